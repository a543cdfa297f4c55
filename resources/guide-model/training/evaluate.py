"""Asks a finished folder dialogues of the generator that no training run draws, and counts answers by kind of round.

python evaluate.py [--folder DIR] [--count 300] [--verbose]

A quick probe of what the model has learned and what is weak; heldout/score.py is the measure. The earlier rounds are given with the
right answers, the last one is answered greedily. A round about a topic is right with any of the topic's answers, one about something
outside with any of the ways to say so, all others only word for word. Reads the folder through engine.py.
"""
import argparse
from collections import defaultdict
from pathlib import Path

from engine import Chat, Engine
from generate import Generator

SEED = 10 ** 9  # above all seeds of training


def outside_answers(generator, count=400):
    """All that the generator says to things outside the topics."""
    return {generator.outside_round(lang).a for lang in ("zh", "en") for _ in range(count)}


def right(one, answer, outside):
    if one.kind == "topic" and one.topic:
        return answer in [a.strip() for a in one.topic[one.lang]["a"]]
    if one.kind == "outside":
        return answer in outside
    return answer == one.a.strip()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent.parent)
    p.add_argument("--count", type=int, default=300, help="dialogues")
    p.add_argument("--verbose", action="store_true", help="print wrong answers")
    a = p.parse_args()
    engine, generator = Engine(a.folder), Generator(SEED)
    outside = outside_answers(generator)
    counts, unstopped = defaultdict(lambda: [0, 0]), 0
    for _ in range(a.count):
        rounds = generator.rounds()
        chat = Chat(engine)
        answer = chat.answer_to([(r.q, r.a) for r in rounds[:-1]], rounds[-1].q)
        unstopped += not chat.stopped
        one = rounds[-1]
        good = right(one, answer, outside)
        for key in (f"{one.kind} {one.lang}", "all"):
            counts[key][0] += good
            counts[key][1] += 1
        if a.verbose and not good:
            print(f"[{one.kind}] {[r.q for r in rounds]}\n  wanted {one.a!r}\n  got    {answer!r}")
    for key in sorted(counts):
        print(f"{key:20s} {counts[key][0]:4d} / {counts[key][1]}")
    print("answers that did not stop", unstopped)


if __name__ == "__main__":
    main()
