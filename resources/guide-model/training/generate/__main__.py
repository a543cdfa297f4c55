"""python -m generate [--seed S] [--show N] [--stats N] [--check]: looks at what the generator makes."""
import argparse
import time
from collections import Counter

from . import Generator, Texts
from .texts import LANGS


def stats(generator, count):
    """Prints distinct pairs, topics seen, rounds, speed and the share of each kind."""
    begun = time.perf_counter()
    dialogues = [generator.rounds() for _ in range(count)]
    spent = time.perf_counter() - begun
    rounds = [one for d in dialogues for one in d]
    kinds = Counter(one.kind for one in rounds)
    print("dialogues", count, "rounds", len(rounds), "distinct questions", len({r.q for r in rounds}),
          "distinct pairs", len({(r.q, r.a) for r in rounds}))
    print("topics", len({r.topic["id"] for r in rounds if r.topic}), "of", len(generator.topics))
    print("rounds of a dialogue", dict(sorted(Counter(map(len, dialogues)).items())))
    print(f"seconds per 1,000 dialogues {1000 * spent / count:.3f}")
    for kind, n in kinds.most_common():
        print(f"  {kind:10s} {100 * n / len(rounds):5.1f} %")


def topic_problems(topic):
    name = f"{topic['file']}: {topic['id']}"
    for lang in LANGS:
        side = topic[lang]
        if (side["q"] or side["x"] or side["d"]) and not side["a"]:
            yield f"{name}: questions in {lang} without an answer"
        for text in side["a"] + side["s"] + side["m"]:
            if text.count("```") % 2:
                yield f"{name}: a code fence is not closed in {text[:40]!r}"
    if len(topic["zh"]["a"]) != len(topic["en"]["a"]):
        yield f"{name}: {len(topic['zh']['a'])} Chinese answers, {len(topic['en']['a'])} English ones"


def problems(texts):
    """Everything in the texts that a writer should look at."""
    owner = {}
    for topic in texts.topics:
        yield from topic_problems(topic)
        for lang in LANGS:
            for q in topic[lang]["q"]:
                first = owner.setdefault((lang, q.lower()), topic["id"])
                if first != topic["id"]:
                    yield f"{topic['file']}: {topic['id']}: {q!r} is asked in {first} too"
    ids = {t["id"] for t in texts.topics}
    yield from (f"mix.json: unknown topic {name!r}" for name in texts.mix["common"] if name not in ids)
    for name, sides in texts.patterns.items():
        counts = {len(sides[lang]) for lang in LANGS}
        if 0 in counts:
            yield f"patterns.txt: {name}: one language is missing"
        elif len(counts) > 1 and name.endswith((".answer", ".reply", ".meet", ".corrected")):
            yield f"patterns.txt: {name}: answers of the two languages do not match in number"


def main():
    parser = argparse.ArgumentParser(prog="python -m generate", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="dialogues to print")
    parser.add_argument("--stats", type=int, default=0, help="dialogues to count")
    parser.add_argument("--check", action="store_true", help="end with 1 if a text needs attention")
    options = parser.parse_args()
    texts = Texts()
    generator = Generator(options.seed, texts)
    for _ in range(options.show):
        for q, a in generator.dialogue():
            print("Q:", q)
            print("A:", a)
        print()
    if options.stats:
        stats(generator, options.stats)
    found = list(problems(texts)) if options.check else []
    print(*found, sep="\n")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
