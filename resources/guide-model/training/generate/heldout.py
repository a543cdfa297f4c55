"""The held-out questions, which must never come up in training."""
import json

from .texts import DATA, DataError

HELD_OUT = DATA.parent / "heldout" / "questions.jsonl"


def normal(text):
    """Letters and digits only, lower case: two spellings of one question become the same."""
    return "".join(filter(str.isalnum, text.lower()))


class HeldOut:
    """Questions (normalised) and operands of the held-out file; empty when there is no file."""

    def __init__(self, path=HELD_OUT):
        self.questions, self.operands = set(), set()
        if not path.exists():
            return
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                try:
                    self.add(json.loads(line))
                except (ValueError, TypeError, KeyError, AttributeError) as error:
                    raise DataError(path, number, f"not a held-out question: {error}") from error

    def add(self, entry):
        asked = [entry["q"]] if "q" in entry else [r["q"] for r in entry["rounds"]]
        self.questions.update(normal(q) for q in asked)
        self.add_operands(entry.get("operands", []))

    def add_operands(self, values):
        if isinstance(values, dict):
            values = list(values.values())
        plain = [normal(str(v)) for v in values if not isinstance(v, list | dict)]
        if plain:
            self.operands.add(tuple(sorted(plain)))
        self.operands.update((p,) for p in plain if not p.isdigit())
        for v in values:
            if isinstance(v, list | dict):
                self.add_operands(v)

    def asked(self, question):
        return bool(self.questions) and normal(question) in self.questions

    def used(self, *operands):
        """True when exactly these numbers or names, in any order, are held out."""
        return bool(self.operands) and tuple(sorted(normal(str(v)) for v in operands)) in self.operands
