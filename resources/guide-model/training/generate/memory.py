"""What the user tells about themself, and questions about it later."""
from .rounds import Round


def sentence(text, lang):
    """A clause as a sentence of its own. A value at its head keeps its letters as they were typed."""
    return text + "。" if lang == "zh" else text[:1].upper() + text[1:] + "."


class Memory:
    """The facts of one dialogue; values are {"zh": ..., "en": ...}, in the order in which they were told."""

    def __init__(self, rng, patterns, values, names, noise, weights, held):
        self.rng, self.patterns, self.values, self.names = rng, patterns, values, names
        self.noise, self.held = noise, held
        self.kinds, self.weights = list(weights), list(weights.values())
        self.told = {}

    def pick(self, name, lang):
        return self.rng.choice(self.patterns[name][lang])

    # ---- values ------------------------------------------------------------------------------------------------
    def value(self, kind, lang):
        rng = self.rng
        while True:
            if kind in ("name", "friend", "petname"):
                name = self.names.name(lang)
                value = {"zh": name, "en": name}
            elif kind in ("age", "number"):
                n = str(rng.randrange(4, 100) if kind == "age" else rng.randrange(rng.choice((10, 100, 1000, 10000))))
                value = {"zh": n, "en": n}
            elif kind == "secret" or kind == "city" and rng.random() < 0.25:
                word = self.names.odd(lang, self.values["word"]) if kind == "secret" else self.names.made_up()
                value = {"zh": word, "en": word}
            else:
                zh, en = rng.choice(self.values[kind])
                value = {"zh": zh, "en": en}
            if not self.held.used(value[lang]) and value != self.told.get(kind):
                return value

    def state(self, kind, lang):
        return self.patterns[f"fact.{kind}.state"][lang][0].format(v=self.told[kind][lang])

    def draw_kind(self):
        return self.rng.choices(self.kinds, self.weights)[0]

    # ---- telling -----------------------------------------------------------------------------------------------
    def tell(self, lang):
        """One fact, two facts in one sentence, or a correction of a fact told before."""
        rng = self.rng
        if self.told and rng.random() < 0.2:
            return self.correct(lang)
        kinds = [self.draw_kind()]
        if rng.random() < 0.2:
            second = self.draw_kind()
            if second not in kinds:
                kinds.append(second)
        parts = []
        for kind in kinds:
            value = self.value(kind, lang)
            self.told.pop(kind, None)
            self.told[kind] = value
            parts.append(self.pick(f"fact.{kind}.tell", lang).format(v=value[lang]))
        join = ("，" if rng.random() < 0.7 else "。") if lang == "zh" else rng.choice((" and ", ", ", ". "))
        return self.reply(join.join(parts), kinds, lang, "memory.reply")

    def correct(self, lang):
        kind = self.rng.choice(list(self.told))
        old = self.told[kind]
        self.told[kind] = value = self.value(kind, lang)
        tell = self.pick(f"fact.{kind}.tell", lang).format(v=value[lang])
        return self.reply(self.pick("memory.correct", lang).format(tell=tell, old=old[lang]), [kind], lang, "memory.corrected")

    def reply(self, q, kinds, lang, name):
        forms = self.patterns[name]
        if name == "memory.reply" and kinds[-1:] == ["name"] and len(kinds) == 1:
            forms = self.patterns["memory.meet"]
        i = self.rng.randrange(min(len(forms["zh"]), len(forms["en"])))
        both = {}
        for side in ("zh", "en"):
            states = ("，" if side == "zh" else " and ").join(self.state(k, side) for k in kinds)
            text = forms[side][i].format(s=states, v=self.told[kinds[0]][side])
            both[side] = text[:1].upper() + text[1:] if forms[side][i].startswith("{s}") else text
        return Round(self.noise.statement(q, lang), both[lang], lang, "tell", both)

    # ---- asking ------------------------------------------------------------------------------------------------
    def recall(self, lang, kind=None):
        """A question about a fact; about one that was not told the answer says so."""
        rng = self.rng
        if kind is None:
            kind = rng.choice(list(self.told)) if self.told and rng.random() < 0.88 else self.draw_kind()
        if kind in self.told and rng.random() < 0.06:
            return self.confirm(lang, kind)
        if self.told and rng.random() < 0.05:
            return self.summary(lang)
        q = self.noise.question(self.pick(f"fact.{kind}.ask", lang), lang)
        if kind in self.told:
            both = {side: sentence(self.state(kind, side), side) for side in ("zh", "en")}
            short = {side: self.told[kind][side] + ("。" if side == "zh" else ".") for side in both}
            return Round(q, both[lang], lang, "recall", both, short)
        both = {side: self.patterns["memory.unknown"][side][0].format(n=self.patterns[f"fact.{kind}.noun"][side][0])
                for side in ("zh", "en")}
        return Round(q, both[lang], lang, "untold", both)

    def confirm(self, lang, kind):
        """"Is my name X?" with the right or another value."""
        right = self.rng.random() < 0.5
        value = self.told[kind] if right else self.value(kind, lang)
        clause = self.patterns[f"fact.{kind}.state"][lang][0].format(v=value[lang])
        q = self.pick("memory.confirm", lang).format(s=clause)
        both = {side: self.patterns["memory.yes" if right else "memory.no"][side][0].format(s=self.state(kind, side))
                for side in ("zh", "en")}
        return Round(self.noise.question(q, lang, True), both[lang], lang, "confirm", both)

    def summary(self, lang):
        both = {"zh": "，".join(self.state(k, "zh") for k in self.told) + "。",
                "en": sentence(", ".join(self.state(k, "en") for k in self.told), "en")}
        return Round(self.noise.question(self.pick("memory.summary", lang), lang), both[lang], lang, "summary", both)
