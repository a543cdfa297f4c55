"""Questions that the model cannot answer, and its honest answers."""
from .rounds import Round

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Outside:
    def __init__(self, rng, patterns, sections, noise, known):
        """`known` holds words whose translation the model does know; they are not asked as unknown ones."""
        self.rng, self.patterns, self.noise = rng, patterns, noise
        self.lists = {key: [x for row in rows for x in row] for key, rows in sections.items()}
        for lang in ("zh", "en"):
            self.lists[lang + "_word"] = [w for w in self.lists[lang + "_word"] if w not in known]
            self.lists[lang + "_land"] = [w for w in self.lists[lang + "_land"] if w.removeprefix("the ") not in known]

    def answers(self, name, q, lang, kind, short=None):
        forms = self.patterns[name]
        i = self.rng.randrange(min(len(forms["zh"]), len(forms["en"])))
        both = {side: forms[side][i] for side in ("zh", "en")}
        return Round(q, both[lang], lang, kind, both, short)

    def question(self, lang):
        rng, lists = self.rng, self.lists
        r = rng.random()
        if r < 0.26:
            return rng.choice(lists[lang + "_whole"])
        if r < 0.36:
            return rng.choice(lists[lang + "_near"])
        if r < 0.41:
            return rng.choice(self.patterns["capital.ask"][lang]).format(l=rng.choice(lists[lang + "_land"]))
        if r < 0.46:
            way = rng.choice(("zh", "en"))
            word = rng.choice(lists[way + "_word"])
            return rng.choice(self.patterns["word.to_english.ask" if way == "zh" else "word.to_chinese.ask"][lang]).format(w=word)
        return rng.choice(lists[lang]).format(x=rng.choice(lists[lang + "_x"]))

    def make(self, lang):
        r = self.rng.random()
        if r < 0.04:
            q = self.noise.question(self.rng.choice(self.lists["other_language"]), lang, True)
            return self.answers("outside.other", q, lang, "language")
        if r < 0.12:
            return self.answers("outside.unclear", self.unclear(lang), lang, "unclear")
        short = {side: self.patterns["outside.short"][side][0] for side in ("zh", "en")}
        return self.answers("outside.answer", self.noise.question(self.question(lang), lang), lang, "outside", short)

    def unclear(self, lang):
        rng = self.rng
        if rng.random() < 0.4:
            return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(3, 10)))
        return rng.choice(self.lists[lang + "_unclear"])
