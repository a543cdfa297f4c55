"""Questions that look back at the rounds before: in the other language, shorter, more, again, what did I ask."""
from .rounds import Round


class Follow:
    def __init__(self, rng, patterns, noise, weights):
        self.rng, self.patterns, self.noise, self.weights = rng, patterns, noise, weights

    def pick(self, name, lang):
        return self.noise.question(self.rng.choice(self.patterns["follow." + name][lang]), lang)

    def options(self, rounds):
        """Names of the follow-ups that the rounds so far allow."""
        last = rounds[-1]
        names = ["quote", "again"]
        if len(rounds) > 2:
            names.append("first")
        if last.both and last.both["zh"] != last.both["en"]:
            names.append("translate")
        if last.short and last.lang in last.short and last.short[last.lang] != last.a:
            names.append("shorter")
        if last.topic or last.more or last.kind in ("outside", "skill"):
            names.append("more")
        if last.topic and len(last.topic[last.lang]["a"]) > 2:
            names.append("another")
        return names

    def make(self, rounds, lang):
        """A follow-up of the last round, asked in `lang`."""
        names = self.options(rounds)
        name = self.rng.choices(names, [self.weights[n] for n in names])[0]
        return getattr(self, name)(rounds, lang)

    def quote(self, rounds, lang, said=None):
        text = (said or rounds[-1].q).strip()
        forms = self.patterns["follow.quote.answer" if said is None else "follow.first.answer"]
        both = {side: forms[side][0].format(q=text) for side in ("zh", "en")}
        return Round(self.pick("quote" if said is None else "first", lang), both[lang], lang, "quote", both)

    def first(self, rounds, lang):
        return self.quote(rounds, lang, rounds[0].q)

    def again(self, rounds, lang):
        last = rounds[-1]
        return Round(self.pick("again", lang), last.a, last.lang, "again", last.both, last.short, last.more, last.topic)

    def translate(self, rounds, lang):
        last = rounds[-1]
        target = "en" if last.lang == "zh" else "zh"
        lang = last.lang if self.rng.random() < 0.6 else target
        return Round(self.pick("to_" + target, lang), last.both[target], target, "translate", last.both, last.short, last.more, last.topic)

    def shorter(self, rounds, lang):
        last = rounds[-1]
        both = last.short if len(last.short) == 2 else None
        return Round(self.pick("shorter", last.lang), last.short[last.lang], last.lang, "shorter", both)

    def more(self, rounds, lang):
        last = rounds[-1]
        lang = last.lang
        if last.more and lang in last.more:
            both = last.more if len(last.more) == 2 else None
            return Round(self.pick("more", lang), last.more[lang], lang, "more", both)
        forms = self.patterns["follow.more.answer"]
        i = self.rng.randrange(len(forms[lang]))
        both = {side: forms[side][i] for side in ("zh", "en")}
        return Round(self.pick("more", lang), both[lang], lang, "more", both)

    def another(self, rounds, lang):
        """Another answer to the same question: one more joke, one more poem."""
        last = rounds[-1]
        others = [i for i, a in enumerate(last.topic[last.lang]["a"]) if a != last.a]
        i = self.rng.choice(others)
        both = {s: last.topic[s]["a"][i] for s in ("zh", "en")} if len(last.topic["zh"]["a"]) == len(last.topic["en"]["a"]) else None
        return Round(self.pick("another", last.lang), last.topic[last.lang]["a"][i], last.lang, "another", both, None, None, last.topic)
