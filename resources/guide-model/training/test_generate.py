"""Tests of the dialogue generator: python -m unittest test_generate"""
import re
import tempfile
import unittest
from pathlib import Path

from generate import DataError, Generator, HeldOut
from generate.texts import read_scripts, read_topics

SUM = re.compile(r"(\d+) ([+×-]) (\d+) = (\d+)[.。]")
TOLD = re.compile(r"(?:your name is|你叫) ?(.+?)(?: and |，|。|\.$)")


class Formats(unittest.TestCase):
    def read(self, reader, text, *more):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "broken.txt"
            path.write_text(text, encoding="utf-8")
            return reader(path, *more)

    def test_errors_name_file_and_line(self):
        for reader, text, more in ((read_topics, "@ a\nzq x\nzt y\n", ({},)), (read_topics, "@ a\n\nzq a |  | b\n", ({},)),
                                   (read_scripts, "= a en\nQ hi\nQ again\n", ()), (read_scripts, "\n\n= a fr\n", ())):
            with self.assertRaisesRegex(DataError, r"^broken\.txt:3: "):
                self.read(reader, text, *more)


class Dialogues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.generator = Generator(5)
        cls.dialogues = [cls.generator.rounds() for _ in range(6000)]
        cls.rounds = [one for d in cls.dialogues for one in d]

    def test_one_seed_gives_the_same_dialogues(self):
        first, second, other = Generator(7), Generator(7), Generator(8)
        wanted = [first.dialogue() for _ in range(200)]
        self.assertEqual(wanted, [second.dialogue() for _ in range(200)])
        self.assertNotEqual(wanted, [other.dialogue() for _ in range(200)])

    def test_sums_are_right(self):
        answers = [r.a for r in self.rounds if r.kind == "sum"]
        self.assertGreater(len(answers), 200)
        for answer in answers:
            a, op, b, value = SUM.fullmatch(answer).groups()
            self.assertEqual({"+": int(a) + int(b), "-": int(a) - int(b), "×": int(a) * int(b)}[op], int(value))
            self.assertGreaterEqual(int(value), 0)

    def test_held_out_questions_never_come_up(self):
        held = HeldOut()
        for one in self.rounds:
            if one.kind in ("topic", "outside", "script"):
                self.assertFalse(held.asked(one.q), one.q)
            elif one.kind == "sum":
                a, _, b, _ = SUM.fullmatch(one.a).groups()
                self.assertFalse(held.used(a, b), one.a)

    def test_quotes_repeat_the_round_before_or_the_first(self):
        for dialogue in self.dialogues:
            for before, one in zip(dialogue, dialogue[1:]):
                if one.kind == "quote":
                    quoted = re.fullmatch(r"[^“\"]*[“\"](.*)[”\"]", one.a, re.S).group(1)
                    self.assertIn(quoted, (before.q.strip(), dialogue[0].q.strip()))

    def test_names_are_recalled_as_last_told(self):
        """The name in an answer stands in a question before it, exactly as it was typed."""
        checked = 0
        for dialogue in self.dialogues:
            for i, one in enumerate(dialogue):
                name = TOLD.fullmatch(one.a[:1].lower() + one.a[1:]) if one.kind == "recall" else None
                if name:
                    checked += 1
                    self.assertTrue(any(name.group(1) in r.q for r in dialogue[:i]), (one.a, [r.q for r in dialogue]))
        self.assertGreater(checked, 50)

    def test_noise_stays_out_of_answers(self):
        written = {a for t in self.generator.topics for lang in ("zh", "en") for a in t[lang]["a"]}
        for one in self.rounds:
            if one.kind == "topic":
                self.assertIn(one.a, written)


if __name__ == "__main__":
    unittest.main()
