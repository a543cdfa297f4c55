"""Tests of the held-out questions and of the scorer; no model is needed: python -m unittest test_score"""
import json
import re
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import score

try:
    import compare_precisions
except ModuleNotFoundError:  # it needs numpy, the scorer does not
    compare_precisions = None

ABSURD = (
    "",
    "   \n",
    "Bananas ride purple submarines under the quiet library.",
    "紫色的香蕉在图书馆骑潜艇。",
    "the the the the the the",
)
REFUSALS = ("Sorry, that is beyond me. Please load ChatGLM2-6B and ask it.", "这个我不知道。")
MIN_BY_TOPIC = {"manners": 60, "self": 45, "app": 75, "lm": 75, "skills": 75, "generated": 65, "memory": 75,
                "outside": 60}


def plain(text):
    return "".join(filter(str.isalnum, text.lower()))


def verdict(item, text):
    last = item["rounds"][-1]
    return score.is_right(item["topic"], last, text)


class FakeEngine:
    """Answers from a list and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def answer(self, history, question):
        self.asked.append((list(history), question))
        return self.answers.pop(0)


class QuestionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.items = score.load_items()

    def test_fields(self):
        for item in self.items:
            with self.subTest(item["id"]):
                self.assertIn(item["topic"], score.TOPICS)
                self.assertIn(item["lang"], ("zh", "en"))
                self.assertLessEqual(1, len(item["rounds"]))
                self.assertLessEqual(len(item["rounds"]), 6)
                self.assertTrue(item["rounds"][-1]["accept"])
                self.assertTrue(all(part["q"].strip() for part in item["rounds"]))

    def test_patterns_compile(self):
        for item in self.items:
            for part in item["rounds"]:
                for pattern in part.get("accept", []) + part.get("reject", []):
                    re.compile(pattern, score.FLAGS)

    def test_ids_and_questions_are_unique(self):
        ids = Counter(item["id"] for item in self.items)
        questions = Counter(plain(part["q"]) for item in self.items for part in item["rounds"])
        self.assertEqual([i for i, n in ids.items() if n > 1], [])
        self.assertEqual([q for q, n in questions.items() if n > 1], [])

    def test_counts(self):
        by_topic = Counter(item["topic"] for item in self.items)
        for topic, least in MIN_BY_TOPIC.items():
            self.assertGreaterEqual(by_topic[topic], least, topic)
        self.assertGreaterEqual(len(self.items) - by_topic[score.OUTSIDE], 460)
        self.assertGreaterEqual(sum(len(item["rounds"]) > 1 for item in self.items), 110)

    def test_languages_are_balanced_in_every_topic(self):
        for topic in score.TOPICS:
            langs = Counter(item["lang"] for item in self.items if item["topic"] == topic)
            self.assertLessEqual(abs(langs["zh"] - langs["en"]), 4, topic)

    def test_absurd_answers_are_wrong(self):
        for item in self.items:
            for text in ABSURD:
                self.assertFalse(verdict(item, text), (item["id"], text))

    def test_refusals_are_right_only_outside(self):
        for item in self.items:
            for text in REFUSALS:
                if item["topic"] != score.OUTSIDE:
                    self.assertFalse(verdict(item, text), (item["id"], text))
        outside = [item for item in self.items if item["topic"] == score.OUTSIDE]
        for item in outside:
            self.assertTrue(verdict(item, REFUSALS[item["lang"] == "zh"]), item["id"])

    def test_references_are_right(self):
        with_reference = [item for item in self.items if "ref" in item]
        self.assertGreaterEqual(len(with_reference), 120)
        for item in with_reference:
            self.assertEqual(len(item["rounds"]), 1, item["id"])
            self.assertTrue(verdict(item, item["ref"]), (item["id"], item["ref"]))
            self.assertFalse(score.is_looping(item["ref"]), item["id"])

    def test_references_of_other_questions_are_mostly_wrong(self):
        references = {item["id"]: item["ref"] for item in self.items if "ref" in item}
        shares = []
        for item in self.items:
            others = [text for i, text in references.items() if i != item["id"]]
            shares.append(sum(verdict(item, text) for text in others) / len(others))
            self.assertLess(shares[-1], 0.15, (item["id"], item["rounds"][-1]["accept"]))
        self.assertLess(sum(shares) / len(shares), 0.02)


class ScoreTest(unittest.TestCase):
    ITEM = {"id": "x", "lang": "en", "topic": "memory",
            "rounds": [{"q": "i am Ann"}, {"q": "who am i", "accept": [r"\bann\b"], "reject": ["not ann"]}]}

    def test_earlier_answers_are_the_models_own(self):
        engine = FakeEngine(score.Answer("Hello!"), score.Answer("You are Ann."))
        self.assertTrue(score.hold_dialogue(engine, self.ITEM).right)
        self.assertEqual(engine.asked[0], ([], "i am Ann"))
        self.assertEqual(engine.asked[1], ([{"role": "user", "content": "i am Ann"},
                                            {"role": "assistant", "content": "Hello!"}], "who am i"))

    def test_only_rounds_with_patterns_count(self):
        engine = FakeEngine(score.Answer("You are Ann."), score.Answer("No idea."))
        self.assertFalse(score.hold_dialogue(engine, self.ITEM).right)

    def test_reject_wins_over_accept(self):
        self.assertFalse(score.is_right("memory", self.ITEM["rounds"][1], "You are not Ann."))

    def test_summary_counts_by_topic_and_language(self):
        outside = {**self.ITEM, "id": "y", "topic": "outside", "lang": "zh"}
        good = score.Verdict(self.ITEM, [score.Answer("Hello!"), score.Answer("Ann")], True)
        bad = score.Verdict(outside, [score.Answer("Hi"), score.Answer("la la", hit_limit=True)], False)
        summary = score.summarise([good, bad])
        self.assertEqual(summary["topics"]["memory"]["en"], {"n": 1, "right": 1, "percent": 100.0})
        self.assertEqual(summary["inside"]["right"], 1)
        self.assertEqual(summary["outside"]["percent"], 0.0)
        self.assertEqual(summary["token_limit"], ["y"])
        self.assertEqual([failure["id"] for failure in summary["failures"]], ["y"])
        self.assertEqual(summary["answers"], 4)
        self.assertIn("| memory | 1 / 1 | 100.0 % | 0 / 0 | 1 / 1 |", score.table(summary))

    def test_a_program_that_fails_is_an_error(self):
        with self.assertRaises(score.EngineError):
            score.Cli("/nowhere/glmchat-cli", ".").answer([], "hello")
        with self.assertRaises(score.EngineError):
            score.Cli("false", ".").answer([], "hello")

    def test_answer_reads_what_the_program_prints(self):
        reply = json.dumps({"text": "Hi.", "finish_reason": "max_new_tokens"})
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "cli"
            program.write_text(f"#!/bin/sh\ncat > /dev/null\ncat <<'END'\n{reply}\nEND\n", encoding="utf-8")
            program.chmod(0o755)
            self.assertEqual(score.Cli(program, folder).answer([], "hello"), score.Answer("Hi.", True))


class LoopTest(unittest.TestCase):
    def test_planted_loops(self):
        for text in ("the sea is blue and " * 4, "海海海海海海海海" * 4, "x" + "轻轻的风吹过海面，" * 4 + "完",
                     "It rains. I know. It rains! I go. it rains", "我不知道。是的。我不知道！好。我不知道",
                     "- [ ] water the plants\n" * 4):
            self.assertTrue(score.is_looping(text), text)

    def test_normal_text(self):
        for text in ("", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10", "A-B-C-D-E-F-G", "Ha ha ha, that is a good one.",
                     "| a | b | c | d |\n| --- | --- | --- | --- |\n| 1 | 2 | 3 | 4 |",
                     "The week: Monday, Tuesday, Wednesday, Thursday, Friday, Saturday and Sunday.",
                     "星期一、星期二、星期三、星期四、星期五、星期六、星期日。",
                     "```c\nint main(void) {\n    return 0;\n}\n```", "-" * 60):
            self.assertFalse(score.is_looping(text), text)


@unittest.skipIf(compare_precisions is None, "numpy is not installed")
class ComparePrecisionsTest(unittest.TestCase):
    def test_perplexity_of_even_logits_is_the_vocabulary(self):
        logits = compare_precisions.np.zeros((6, 10), dtype="float32")
        measured = compare_precisions.measure(logits, [1, 2, 3], [4, 5, 6])
        self.assertEqual(len(measured.losses), 3)
        self.assertAlmostEqual(compare_precisions.perplexity([measured]), 10, places=4)

    def test_row_before_an_id_is_the_one_that_predicts_it(self):
        logits = compare_precisions.np.full((4, 5), -20, dtype="float32")
        logits[1, 3] = logits[2, 4] = 20  # two prompt ids, then 3, 4
        measured = compare_precisions.measure(logits, [0, 1], [3, 4])
        self.assertAlmostEqual(compare_precisions.perplexity([measured]), 1, places=4)
        self.assertEqual(list(measured.best), [3, 4])

    def test_answer_ids_start_after_the_line_break(self):
        class Tokenizer:
            def run_json(self, command, *options, text=None):
                assert command == "tokenize" and text == "\nHi"
                return {"ids": [9, 13, 7, 8], "pieces": ["▁", "<0x0A>", "H", "i"]}
        self.assertEqual(compare_precisions.answer_ids(Tokenizer(), "Hi"), [7, 8])

    def test_agreement(self):
        one = compare_precisions.Measured(compare_precisions.np.zeros(2), compare_precisions.np.array([1, 2]))
        two = compare_precisions.Measured(compare_precisions.np.zeros(2), compare_precisions.np.array([1, 3]))
        self.assertEqual(compare_precisions.agreement([one], [two]), 0.5)


if __name__ == "__main__":
    unittest.main()
