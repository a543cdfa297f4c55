"""Words to be said again: useful by itself, and the shortest way to learn to copy from the question."""
from .rounds import Round


class Copying:
    def __init__(self, rng, patterns, names, words, noise, held):
        self.rng, self.patterns, self.names, self.words = rng, patterns, names, words
        self.noise, self.held = noise, held

    def text(self, lang, most=6):
        rng = self.rng
        while True:
            parts = [self.names.odd(lang, self.words) for _ in range(rng.randrange(1, most))]
            text = (rng.choice(("", "", "，", "、", " ")) if lang == "zh" else rng.choice((" ", " ", ", "))).join(parts)
            if not self.held.used(text):
                return text

    def repeat(self, lang):
        text = self.text(lang)
        q = self.rng.choice(self.patterns["repeat.ask"][lang]).format(text)
        return Round(q, text, lang, "repeat")

    def statement(self, lang):
        """Free text that only becomes useful when "what did I say" follows."""
        q = self.rng.choice(self.patterns["statement.ask"][lang]).format(self.text(lang, 4))
        forms = self.patterns["statement.answer"]
        i = self.rng.randrange(min(len(forms["zh"]), len(forms["en"])))
        both = {side: forms[side][i] for side in ("zh", "en")}
        return Round(q, both[lang], lang, "statement", both)
