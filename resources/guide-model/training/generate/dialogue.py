"""Dialogues put together of single rounds, by the weights in data/mix.json."""
import random
from itertools import accumulate

from .copying import Copying
from .follow import Follow
from .heldout import HeldOut
from .memory import Memory
from .names import Names
from .noise import Noise
from .outside import Outside
from .rounds import Round
from .skills import Skills
from .texts import DATA, load_mix, load_topics, read_patterns, read_sections, read_synonyms

COLUMNS = {"capital": 4, "word": 2, "opposite": 4}
SKILLS = ("capital", "word", "opposite", "sum", "too_large", "count", "bigger", "parity", "neighbour", "longer", "spell", "rhyme")


class Texts:
    """Everything read from the data folder, shared by all generators of a process."""

    def __init__(self, folder=DATA, held=None):
        self.topics, self.scripts = load_topics(folder)
        self.held = held or HeldOut()
        self.mix = load_mix(folder)
        self.patterns = read_patterns(folder / "patterns.txt")
        self.synonyms = read_synonyms(folder / "synonyms.txt")
        self.sections = read_sections(folder / "pairs.txt", COLUMNS) | read_sections(folder / "rhymes.txt")
        self.sections["word"] = read_sections(folder / "words.txt", COLUMNS)["word"]
        self.values = read_sections(folder / "values.txt") | {"word": self.sections["word"]}
        self.outside = read_sections(folder / "outside.txt")
        self.names = read_sections(folder / "names.txt")
        self.cut_held_out()

    def cut_held_out(self):
        """Removes the held-out questions from topics and scripts; drops scripts that lose a whole round."""
        for topic in self.topics:
            for lang in ("zh", "en"):
                topic[lang]["q"] = [q for q in topic[lang]["q"] if not self.held.asked(q)]
        for script in self.scripts:
            script["rounds"] = [([q for q in wordings if not self.held.asked(q)], a) for wordings, a in script["rounds"]]
        self.scripts = [s for s in self.scripts if all(wordings for wordings, _ in s["rounds"])]


_shared = None


def shared_texts():
    global _shared
    _shared = _shared or Texts()
    return _shared


def askable(side):
    return bool(side["a"]) and bool(side["q"] or side["x"] or side["d"])


class Generator:
    """Endless dialogues; the same seed gives the same ones."""

    def __init__(self, seed, texts=None):
        self.rng = rng = random.Random(seed)
        self.texts = t = texts or shared_texts()
        self.topics, self.outside, self.mix, self.patterns = t.topics, t.outside, t.mix, t.patterns
        self.noise = Noise(rng, t.patterns, t.synonyms)
        self.names = Names(rng, t.names, t.held)
        self.skills = Skills(rng, t.patterns, t.sections, self.noise, t.held)
        self.copying = Copying(rng, t.patterns, self.names, t.sections["word"], self.noise, t.held)
        self.follow = Follow(rng, t.patterns, self.noise, t.mix["follow"])
        known = {w.lower() for row in t.sections["word"] for w in row} | {x.removeprefix("the ") for row in t.sections["capital"] for x in row}
        self.away = Outside(rng, t.patterns, t.outside, self.noise, known)
        self.chances = {lang: self.topic_weights(lang) for lang in ("zh", "en")}
        self.scripts = {lang: [s for s in t.scripts if s["lang"] == lang] for lang in ("zh", "en")}
        self.kinds = self.weighted(t.mix["kinds"])
        self.plans = self.weighted(t.mix["plans"])
        self.lengths = self.weighted({int(n): w for n, w in t.mix["rounds"].items()})

    @staticmethod
    def weighted(table):
        return list(table), list(accumulate(table.values()))

    def draw(self, table):
        return self.rng.choices(table[0], cum_weights=table[1])[0]

    def topic_weights(self, lang):
        """Topics with more ways to ask or answers are seen more often, but less than in proportion."""
        topics = [t for t in self.topics if askable(t[lang])]
        weights = []
        for t in topics:
            n = sum(len(t[s]["q"]) + 6 * len(t[s]["x"]) ** 0.5 + 6 * len(t[s]["d"]) ** 0.5 + 2 * len(t[s]["a"]) for s in ("zh", "en"))
            weights.append(n ** 0.7 * self.mix["common"].get(t["id"], 1.0))
        return topics, list(accumulate(weights))

    # ---- rounds ------------------------------------------------------------------------------------------------
    def topic_question(self, topic, lang):
        rng, side = self.rng, topic[lang]
        sizes = (len(side["q"]), 6 * len(side["x"]) ** 0.5, 6 * len(side["d"]) ** 0.5)
        r = rng.random() * sum(sizes)
        if r < sizes[0]:
            return side["q"][0] if rng.random() < 0.1 else rng.choice(side["q"])  # the plainest way to ask comes first
        key = "x" if r < sizes[0] + sizes[1] else "d"
        return rng.choice(self.patterns["what.ask" if key == "x" else "how.ask"][lang]).format(rng.choice(side[key]))

    def topic_round(self, lang, topic=None):
        topic = topic or self.draw(self.chances[lang])
        side = topic[lang]
        i = self.rng.randrange(len(side["a"]))
        q = self.fresh(lambda: self.noise.question(self.topic_question(topic, lang), lang))
        both = {s: topic[s]["a"][i] for s in ("zh", "en")} if len(topic["zh"]["a"]) == len(topic["en"]["a"]) else None
        short = {s: topic[s]["s"][min(i, len(topic[s]["s"]) - 1)] for s in ("zh", "en") if topic[s]["s"]}
        more = {s: topic[s]["m"][min(i, len(topic[s]["m"]) - 1)] for s in ("zh", "en") if topic[s]["m"]}
        return Round(q, side["a"][i], lang, "topic", both, short, more, topic)

    def fresh(self, make):
        """A question that is not held out."""
        for _ in range(1000):
            q = make()
            if not self.texts.held.asked(q):
                return q
        raise ValueError(f"every way to ask is held out: {q}")

    def outside_round(self, lang):
        while True:
            one = self.away.make(lang)
            if not self.texts.held.asked(one.q):
                return one

    def any_round(self, lang, memory):
        kind = self.draw(self.kinds)
        if kind == "topic":
            return self.topic_round(lang)
        if kind == "outside":
            return self.outside_round(lang)
        if kind in ("tell", "recall"):
            return getattr(memory, kind)(lang)
        if kind in ("repeat", "statement"):
            return getattr(self.copying, kind)(lang)
        return getattr(self.skills, kind)(lang)

    def next_round(self, rounds, lang, memory):
        """A round after others: often one that follows from the last."""
        last = rounds[-1]
        if last.kind in ("capital", "opposite") and self.rng.random() < 0.35:
            return getattr(self.skills, "next_" + last.kind)(last.lang)
        if self.rng.random() < self.mix["follow_share"]:
            return self.follow.make(rounds, lang)
        return self.any_round(lang, memory)

    # ---- dialogues ---------------------------------------------------------------------------------------------
    def memory(self):
        return Memory(self.rng, self.patterns, self.texts.values, self.names, self.noise, self.mix["facts"], self.texts.held)

    def free(self, lang, memory):
        rounds = []
        for _ in range(self.draw(self.lengths)):
            if rounds and self.rng.random() < self.mix["switch_share"]:
                lang = "en" if lang == "zh" else "zh"
            rounds.append(self.next_round(rounds, lang, memory) if rounds else self.any_round(lang, memory))
        return rounds

    def remember(self, lang, memory):
        """Facts first, then none to six other rounds, then questions about the facts."""
        rng = self.rng
        rounds = [self.any_round(lang, memory)] if rng.random() < 0.15 else []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            rounds.append(memory.tell(lang))
        for _ in range(rng.choice((0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6))):
            rounds.append(self.next_round(rounds, lang, memory))
        if rng.random() < self.mix["switch_share"]:
            lang = "en" if lang == "zh" else "zh"
        for _ in range(rng.choice((1, 1, 2))):
            rounds.append(memory.recall(lang))
        return rounds

    def copy(self, lang, memory):
        """Text to be said again or quoted."""
        make = self.copying.statement if self.rng.random() < 0.4 else self.copying.repeat
        rounds = [make(lang)]
        if rounds[0].kind == "statement" or self.rng.random() < 0.4:
            rounds.append(self.follow.quote(rounds, lang))
        return rounds

    def script(self, lang, memory):
        if not self.scripts[lang]:
            return self.free(lang, memory)
        rounds = []
        for wordings, answer in self.rng.choice(self.scripts[lang])["rounds"]:
            q = self.fresh(lambda: self.noise.question(self.rng.choice(wordings), lang))
            rounds.append(Round(q, answer, lang, "script"))
        return rounds

    def rounds(self):
        """One dialogue as Round objects."""
        lang = "zh" if self.rng.random() < 0.5 else "en"
        return getattr(self, self.draw(self.plans))(lang, self.memory())

    def dialogue(self):
        return [(one.q, one.a) for one in self.rounds()]


def all_texts(texts=None):
    """Every text that questions and answers are made of, for the tokenizer."""
    t = texts or shared_texts()
    for topic in t.topics:
        for lang in ("zh", "en"):
            for group in topic[lang].values():
                yield from group
    for script in t.scripts:
        for wordings, answer in script["rounds"]:
            yield from (*wordings, answer)
    for sections in (t.sections, t.values, t.outside, t.names):
        for rows in sections.values():
            for row in rows:
                yield from row
    for sides in t.patterns.values():
        yield from (*sides["zh"], *sides["en"])
