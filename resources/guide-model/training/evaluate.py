"""Asks the finished model what it was not trained on: kept-back paraphrases, names and subjects, follow-ups, stopping.

python evaluate.py [--folder DIR] [--verbose]      prints one line a group and ends with 1 if an answer did not stop
"""
import argparse
import random
from pathlib import Path

from engine import Chat, Engine
from generate import FACTS, FOLLOW, HELD_OUT_NAMES, NAME, UNKNOWN, Generator

CONVERSATIONS = [
    ["你好", "你是谁？", "你能做什么？", "谢谢", "再见"],
    ["Hello!", "Who are you?", "Say that in Chinese", "Shorter please", "Thanks"],
    ["我叫小梅", "法国的首都是哪里？", "那日本呢？", "我叫什么名字？", "我刚才问了什么？"],
    ["My name is Hannah.", "My favourite colour is green.", "What is 7 + 5?", "What is my name?", "What is my favourite colour?"],
    ["怎么加载 ChatGLM2-6B？", "在哪里下载？", "需要多少内存？", "短一点"],
    ["How do I load ChatGLM2-6B?", "Where do I get it?", "How much memory do I need?"],
    ["What is a language model?", "Explain how a conversation is kept in rounds.", "Write a short poem about the sea."],
    ["什么是语言模型？", "对话是怎样分轮保存的？", "写一首关于大海的小诗。"],
    ["What does temperature do?", "and top-p?", "What is the KV cache?", "in Chinese please"],
    ["讲个笑话", "写一段 Python 的 hello world", "从一数到十", "一周有哪几天？", "给我一个Markdown表格"],
    ["How do I stop an answer?", "Are you ChatGPT?", "Is my data safe?", "Who wrote War and Peace?", "bye"],
    ["苹果用英语怎么说？", "What is the opposite of hot?", "8乘7等于几", "量子纠缠是什么？", "晚安"],
]


def looping(text):
    """True when one passage stands three times in a row."""
    for n in range(6, len(text) // 3 + 1):
        for i in range(len(text) - 3 * n + 1):
            if text[i:i + n] == text[i + n:i + 2 * n] == text[i + 2 * n:i + 3 * n]:
                return True
    return False


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent.parent)
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--quick", action="store_true", help="about a third of the questions")
    a = p.parse_args()
    engine, g = Engine(a.folder), Generator(99)
    rng = random.Random(5)
    counts = {"answers": 0, "unstopped": 0, "loops": 0}
    results = {}

    def run(questions, **options):
        chat = Chat(engine, **options)
        for q in questions:
            answer = chat.ask(q)
            counts["answers"] += 1
            counts["loops"] += looping(answer)
        counts["unstopped"] += not chat.stopped
        return chat.rounds

    def check(group, questions, wanted, **options):
        answer = run(questions, **options)[-1][1]
        good = answer in [w.strip() for w in wanted]
        hit, total = results.get(group, (0, 0))
        results[group] = (hit + good, total + 1)
        if a.verbose and not good:
            print(f"  [{group}] {questions} -> {answer!r}")

    ends = {"zh": "？", "en": "?"}
    for topic in g.topics:
        for lang in ("zh", "en"):
            if a.quick and rng.random() > 0.34:
                continue
            wanted = topic[lang]["a"]
            for q in topic[lang]["t"]:
                check(f"kept-back paraphrases {lang}, greedy", [q + ends[lang]], wanted)
                check(f"kept-back paraphrases {lang}, 0.8/0.8", [q], wanted, temperature=0.8, seed=1)
            check(f"trained questions {lang}, greedy", [g.topic_question(topic, lang)], wanted)
    for lang in ("zh", "en"):
        for name in HELD_OUT_NAMES[lang]:
            for tell, ask in zip(NAME[lang][0], NAME[lang][2]):
                check(f"new names after a round {lang}", [tell.format(v=name), {"zh": "讲个笑话", "en": "Tell me a joke"}[lang], ask],
                      [w.format(v=name) for w in NAME[lang][3]], whole=rng.random() < 0.5)
        for kind, spec in FACTS.items():
            for v in rng.sample(spec[lang][0], 2):
                check(f"facts told before {lang}", [spec[lang][1][0].format(v=v), {"zh": "谢谢", "en": "Thanks"}[lang], spec[lang][3][0]],
                      [w.format(v=v) for w in spec[lang][4]])
        for x in g.outside[lang + "_test"]:
            check(f"outside subjects {lang}", [rng.choice(g.outside[lang]).format(x=x)], UNKNOWN[lang])
        for q in g.outside[lang + "_whole_test"]:
            check(f"outside questions {lang}", [q], UNKNOWN[lang])
        for make, group in ((g.capital_round, "capitals"), (g.word_round, "translations"), (g.opposite_round, "opposites"), (g.sum_round, "sums")):
            for _ in range(10 if a.quick else 40):
                one = make(lang)
                check(f"{group} {lang}", [one["q"]], [one["a"]])
        other = {"zh": "en", "en": "zh"}[lang]
        for topic in rng.sample([t for t in g.topics if len(t["zh"]["a"]) == 1 and t["zh"]["s"]], 6 if a.quick else 15):
            first = topic[lang]["q"][0] if topic[lang]["q"] else "{}".format(topic[lang]["x"][0])
            for whole in (False, True):
                check(f"in {other}, please", [first, FOLLOW["translate"][other][0]], topic[other]["a"], whole=whole)
                check(f"shorter {lang}", [first, FOLLOW["short"][lang][0]], topic[lang]["s"], whole=whole)
            said = f"你说的是：“{first}”" if lang == "zh" else f'You said: "{first}"'
            check(f"what did I ask {lang}", [first, FOLLOW["ask"][lang][0]], [said])
    print()
    for i, questions in enumerate(CONVERSATIONS):
        rounds = run(questions, whole=i % 2 == 1)
        for q, answer in rounds:
            print("Q:", q)
            print("A:", answer)
        print()
    for seed in range(3 if a.quick else 10):
        for questions in CONVERSATIONS:
            run(questions, temperature=0.8, top_p=0.8, seed=seed)
    right = total = 0
    for group, (hit, n) in results.items():
        print(f"{group:45s} {hit:4d} / {n}")
        right, total = right + hit, total + n
    print(f"{'all':45s} {right:4d} / {total}")
    print(f"answers {counts['answers']}, conversations with an answer that did not stop {counts['unstopped']}, looping answers {counts['loops']}")
    raise SystemExit(counts["unstopped"] > 0)


if __name__ == "__main__":
    main()
