"""Skills whose questions are made: every method gives a Round with a right answer."""
from .rounds import Round, english, numeral
from .texts import LANGS

SIGN = {"plus": "+", "minus": "-", "times": "×"}
TYPED = {"plus": ("+", "＋"), "minus": ("-", "－", "−"), "times": ("×", "*", "x")}
DAYS = {"zh": ["星期" + d for d in "一二三四五六日"],
        "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()}
MONTHS = {"zh": [m + "月" for m in "一 二 三 四 五 六 七 八 九 十 十一 十二".split()],
          "en": "January February March April May June July August September October November December".split()}


class Skills:
    def __init__(self, rng, patterns, sections, noise, held):
        self.rng, self.patterns, self.noise, self.held = rng, patterns, noise, held
        self.capitals, self.opposites, self.words = sections["capital"], sections["opposite"], sections["word"]
        self.rhymes = {lang: sections["rhyme." + lang] for lang in LANGS}
        self.latin = [w[1] for w in self.words if w[1].isalpha() and len(w[1]) > 2]
        self.han = [w[0] for w in self.words]

    def make(self, kind, lang, values, short=None, wording="ask", answer="answer"):
        """A round from the patterns `kind.wording` and `kind.answer`; values: {"zh": {...}, "en": {...}}."""
        q = self.rng.choice(self.patterns[f"{kind}.{wording}"][lang]).format(**values[lang])
        forms = self.patterns[f"{kind}.{answer}"]
        both = {side: forms[side][0].format(**values[side]) for side in LANGS}
        return Round(self.noise.question(q, lang, True), both[lang], lang, kind, both, short)

    def draw(self, make, *ranges):
        """Random numbers by `make` that are not held out."""
        for _ in range(100):
            values = make()
            if not self.held.used(*values):
                return values
        raise ValueError("all operands are held out")

    # ---- knowledge ---------------------------------------------------------------------------------------------
    def capital(self, lang, wording=None):
        zh, en, city_zh, city_en = self.rng.choice(self.capitals)
        plain = en.removeprefix("the ") if self.rng.random() < 0.3 else en
        wording = wording or ("reverse" if self.rng.random() < 0.2 else "ask")
        values = {"zh": {"l": zh, "c": city_zh}, "en": {"l": plain if wording != "reverse" else en, "c": city_en}}
        one = self.make("capital", lang, values, {"zh": city_zh + "。", "en": city_en + "."}, wording)
        full = self.patterns["capital.answer"]["en"][0].format(l=en, c=city_en)
        one.both["en"] = full
        one.a = one.both[lang]
        return one

    def next_capital(self, lang):
        """"And France?" after a question about a capital."""
        return self.capital(lang, "next")

    def word(self, lang, wording=""):
        zh, en = self.rng.choice(self.words)
        way = "to_english" if self.rng.random() < 0.5 else "to_chinese"
        values = {"zh": zh, "en": en, "w": zh if way == "to_english" else en}
        short = {side: (en + "." if way == "to_english" else zh + "。") for side in LANGS}
        return self.make("word." + way, lang, {"zh": values, "en": values}, short)

    def opposite(self, lang, wording="ask"):
        row = self.rng.choice(self.opposites)
        pairs = {"zh": row[:2], "en": row[2:]}
        turn = self.rng.random() < 0.5
        values = {side: {"a": p[turn], "b": p[not turn]} for side, p in pairs.items()}
        one = self.make("opposite", lang, values, None, wording)
        one.short = {lang: values[lang]["b"] + ("。" if lang == "zh" else ".")}
        one.both = None  # the words of the other language need not be opposites of the same words
        return one

    def next_opposite(self, lang):
        return self.opposite(lang, "next")

    # ---- numbers -----------------------------------------------------------------------------------------------
    def operands(self, op):
        rng = self.rng
        top = rng.choice((10, 20, 100, 100))
        if op == "plus":
            a = rng.randrange(top + 1)
            return a, rng.randrange(top + 1 - a)
        if op == "minus":
            a = rng.randrange(top + 1)
            return a, rng.randrange(a + 1)
        return rng.randrange(1, 11), rng.randrange(1, 11)

    def sum(self, lang, typed=None):
        rng = self.rng
        op = rng.choice(("plus", "plus", "minus", "minus", "times"))
        a, b = self.draw(lambda: self.operands(op))
        value = {"plus": a + b, "minus": a - b, "times": a * b}[op]
        x, y = a, b
        if rng.random() < 0.5:
            gap = rng.choice(("", " "))
            q = f"{a}{gap}{rng.choice(TYPED[op])}{gap}{b}"
            form = rng.choice(("plain", "plain", "ask"))
            q = q + rng.choice(("", "", "=", " =", "=?", " = ?", "=？")) if form == "plain" else \
                rng.choice(self.patterns["sum.around"][lang]).format(q)
        else:
            if rng.random() < 0.4 and max(a, b) <= 20:
                x, y = (numeral(a), numeral(b)) if lang == "zh" else (english(a), english(b))
            q = rng.choice(self.patterns["sum." + op][lang]).format(a=x, b=y)
        both = {"zh": f"{a} {SIGN[op]} {b} = {value}。", "en": f"{a} {SIGN[op]} {b} = {value}."}
        short = {"zh": f"{value}。", "en": f"{value}."}
        return Round(self.noise.question(q, lang, True), both[lang], lang, "sum", both, short)

    def too_large(self, lang):
        """A calculation beyond the model: said so."""
        rng = self.rng
        a, b = rng.randrange(120, 10 ** rng.randrange(3, 7)), rng.randrange(2, 10 ** rng.randrange(2, 6))
        q = rng.choice(self.patterns["large.ask"][lang]).format(a=a, b=b)
        answers = self.patterns["large.answer"]
        i = rng.randrange(min(len(answers[s]) for s in LANGS))
        both = {side: answers[side][i] for side in LANGS}
        return Round(self.noise.question(q, lang, True), both[lang], lang, "large", both)

    def series(self, first, step, count):
        return [first + step * i for i in range(count)]

    def count(self, lang):
        rng = self.rng
        first, step, count = self.draw(lambda: rng.choice((
            (1, 1, rng.randrange(3, 21)), (rng.randrange(1, 40), 1, rng.randrange(4, 13)),
            (rng.randrange(0, 6), rng.choice((2, 2, 3, 5, 10)), rng.randrange(4, 11)))))
        numbers = self.series(first, step, count)
        if step == 1 and rng.random() < 0.4:
            numbers.reverse()
        a, b = numbers[0], numbers[-1]
        wording = "step" if step > 1 else "down" if a > b else "to" if a == 1 and rng.random() < 0.5 else "up"
        values = {"zh": {"a": a, "b": b, "s": step}, "en": {"a": a, "b": b, "s": step}}
        if max(a, b) <= 20 and rng.random() < 0.4:
            values = {"zh": {k: numeral(v) for k, v in values["zh"].items()}, "en": {k: english(v) for k, v in values["en"].items()}}
        q = rng.choice(self.patterns["count." + wording][lang]).format(**values[lang])
        both = {"zh": "、".join(map(str, numbers)) + "。", "en": ", ".join(map(str, numbers)) + "."}
        return Round(self.noise.question(q, lang, True), both[lang], lang, "count", both)

    def bigger(self, lang):
        rng = self.rng
        top = rng.choice((10, 100, 1000))
        a, b = self.draw(lambda: tuple(rng.sample(range(top + 1), 2)))
        large = rng.random() < 0.6
        values = {"a": a, "b": b, "r": max(a, b) if large else min(a, b), "o": min(a, b) if large else max(a, b)}
        return self.make("bigger" if large else "smaller", lang, {"zh": values, "en": values},
                         {"zh": f"{values['r']}。", "en": f"{values['r']}."})

    def parity(self, lang):
        (n,) = self.draw(lambda: (self.rng.randrange(self.rng.choice((20, 100, 1000))),))
        values = {"n": n, "d": n % 10}
        kind = "even" if n % 2 == 0 else "odd"
        return self.make("parity", lang, {"zh": values, "en": values}, None, "ask", kind)

    def neighbour(self, lang):
        """The number, day or month before or after."""
        rng = self.rng
        way = rng.choice(("next", "previous"))
        step = 1 if way == "next" else -1
        what = rng.choice(("number", "day", "month"))
        if what == "number":
            (n,) = self.draw(lambda: (rng.randrange(1, rng.choice((20, 100, 1000))),))
            values = {side: {"a": n, "b": n + step} for side in LANGS}
        else:
            names = DAYS if what == "day" else MONTHS
            i = rng.randrange(len(names["en"]))
            j = (i + step) % len(names["en"])
            values = {side: {"a": names[side][i], "b": names[side][j]} for side in LANGS}
        return self.make(f"{way}.{what}", lang, values, {"zh": f"{values['zh']['b']}。", "en": f"{values['en']['b']}."})

    # ---- words -------------------------------------------------------------------------------------------------
    def longer(self, lang):
        words = self.latin if lang == "en" or self.rng.random() < 0.3 else self.han
        while True:
            a, b = self.rng.sample(words, 2)
            if len(a) != len(b) and not self.held.used(a, b):
                break
        r, o = (a, b) if len(a) > len(b) else (b, a)
        values = {"a": a, "b": b, "r": r, "m": len(a), "n": len(b)}
        return self.make("longer" if a.isascii() else "longer.han", lang, {"zh": values, "en": values})

    def spell(self, lang):
        word = self.rng.choice(self.latin).lower()
        values = {"w": word, "s": "-".join(word), "n": len(word)}
        kind = self.rng.choice(("spell", "letters"))
        return self.make(kind, lang, {"zh": values, "en": values}, None)

    def rhyme(self, lang):
        row = self.rng.choice(self.rhymes[lang])
        word = self.rng.choice(row)
        others = [w for w in row if w != word]
        others = self.rng.sample(others, min(3, len(others)))
        values = {"w": word, "r": ("、" if lang == "zh" else ", ").join(others)}
        one = self.make("rhyme", lang, {"zh": values, "en": values})
        one.both = None
        return one
