"""Names and odd words to be remembered and copied: real ones, made-up ones, mixed ones."""
ONSET = ("b br c ch cl d dr f fl g gl gr h j k kr l m n p ph pl pr qu r s sc sh sk sl sm sn sp st str t th tr v w y z zh x ts").split()
VOWEL = "a e i o u a e i o u ai au ea ee ei ia ie io oa oo ou y ay ey ue".split()
CODA = "b d f g k l ll m n nd ng nn nt p r rd rk rn rt s sh ss st t th tt v x z ck ld lm".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Names:
    def __init__(self, rng, sections, held):
        self.rng, self.held = rng, held
        flat = {key: [x for row in rows for x in row] for key, rows in sections.items()}
        self.surnames, self.double = "".join(flat["surname"]), flat["surname2"]
        self.given, self.rare, self.nick = "".join(flat["given"]), "".join(flat["rare"]), "".join(flat["nick"])
        self.english, self.family = flat["english"], flat["family"]

    def syllables(self, count):
        """A made-up word that can be said."""
        rng, parts = self.rng, []
        for i in range(count):
            parts.append((rng.choice(ONSET) if rng.random() < 0.85 or i else "") + rng.choice(VOWEL))
            if rng.random() < (0.5 if i == count - 1 else 0.2):
                parts.append(rng.choice(CODA))
        word = "".join(parts)
        return word if len(word) > 1 else self.syllables(count + 1)

    def made_up(self):
        return self.syllables(self.rng.choice((1, 2, 2, 3))).capitalize()

    def chinese(self):
        rng = self.rng
        r = rng.random()
        if r < 0.15:
            return rng.choice("小小阿老大") + rng.choice(self.nick)
        if r < 0.2:
            return rng.choice(self.nick) * 2
        pool = self.rare if rng.random() < 0.25 else self.given
        given = "".join(rng.choice(pool) for _ in range(rng.choice((1, 2, 2))))
        if r < 0.25:
            return given if len(given) == 2 else rng.choice(self.given) + given
        return (rng.choice(self.double) if rng.random() < 0.05 else rng.choice(self.surnames)) + given

    def latin(self):
        rng = self.rng
        r = rng.random()
        name = rng.choice(self.english) if r < 0.45 else self.made_up()
        if r > 0.9:
            name += " " + (rng.choice(self.family) if rng.random() < 0.6 else self.made_up())
        return name.lower() if rng.random() < 0.2 else name

    def name(self, lang):
        """A name as somebody may type it who writes in `lang`."""
        own = self.chinese if lang == "zh" else self.latin
        other = self.latin if lang == "zh" else self.chinese
        while True:
            r = self.rng.random()
            name = own() if r < 0.86 else other() if r < 0.96 else own() + str(self.rng.randrange(1, 100))
            if not self.held.used(name):
                return name

    def scramble(self):
        """Letters and digits without sense."""
        rng = self.rng
        pool = rng.choice((LETTERS, "0123456789", LETTERS + "0123456789"))
        return "".join(rng.choice(pool) for _ in range(rng.randrange(2, 8)))

    def odd(self, lang, words):
        """A word or number for copying: anything from a name to a scramble."""
        r = self.rng.random()
        if r < 0.35:
            return self.name(lang)
        if r < 0.6:
            return self.rng.choice(words)[lang == "en"]
        if r < 0.75:
            return self.syllables(self.rng.choice((1, 2, 3)))
        if r < 0.88:
            return str(self.rng.randrange(10 ** self.rng.randrange(1, 5)))
        return self.scramble() if lang == "en" or self.rng.random() < 0.5 else "".join(
            self.rng.choice(self.rare + self.given) for _ in range(self.rng.randrange(1, 5)))
