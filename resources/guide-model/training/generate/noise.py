"""Questions as users type them: polite words, typing mistakes, punctuation, case, spaces, emoticons."""
import re

JOIN = re.compile(r"(?<=[\u4e00-\u9fff]) ?(?=[A-Za-z0-9])|(?<=[A-Za-z0-9]) ?(?=[\u4e00-\u9fff])")
LONE_I = re.compile(r"\bi\b")
HALF = str.maketrans("，。？！：“”", ",.?!:\"\"")
CONTRACTED = (("what is", "what's"), ("i am", "i'm"), ("do not", "don't"), ("how is", "how's"), ("you are", "you're"), ("'", ""))
SHORT = (("you", "u"), ("please", "pls"), ("are", "r"), ("because", "cuz"), ("what", "wat"), ("the", "teh"))
NEIGHBOURS = {"a": "sq", "e": "wr", "i": "uo", "o": "ip", "n": "bm", "t": "ry", "s": "ad", "r": "et", "l": "k", "h": "gj"}
SMALL = frozenset("a an the i is are do does can could would should please me my to of it that this you your have there".split())
SMALL_HAN = re.compile("请问|一下|可以|能不能|能|我想|我要|怎样|怎么|如何|是什么|什么是|的|吗|呢|啊")
CLOSED = "?？。.!！…~～"


class Noise:
    def __init__(self, rng, patterns, synonyms):
        self.rng, self.synonyms = rng, synonyms
        self.before, self.greeting = patterns["noise.before"], patterns["noise.greeting"]
        self.after, self.end, self.face = patterns["noise.after"], patterns["noise.end"], patterns["noise.face"]

    def typo(self, text, lang):
        """One mistake: a letter left out, doubled, swapped or taken from the next key."""
        rng = self.rng
        if lang == "zh":
            if len(text) < 5:
                return text
            j = rng.randrange(1, len(text) - 1)
            if "\u4e00" <= text[j] <= "\u9fff":
                return text[:j] + (text[j] * 2 if rng.random() < 0.5 else "") + text[j + 1:]
            return text
        words = text.split(" ")
        spots = [i for i, w in enumerate(words) if len(w) >= 4 and w.isalpha()]
        if not spots:
            return text
        i = rng.choice(spots)
        w = words[i]
        j = rng.randrange(1, len(w) - 1)
        near = rng.choice(NEIGHBOURS.get(w[j], w[j]))
        words[i] = rng.choice((w[:j] + w[j + 1:], w[:j] + w[j + 1] + w[j] + w[j + 2:], w[:j] + w[j] + w[j:], w[:j] + near + w[j + 1:]))
        return " ".join(words)

    def reword(self, text, lang):
        """One or two phrases exchanged for others of the same meaning; in English whole words only."""
        rng = self.rng
        space = " " if lang == "en" else ""
        padded = space + text + space
        found = [(phrase, group) for phrase, group in self.synonyms[lang] if space + phrase + space in padded]
        found = [f for f in found if not any(f[0] != other and f[0] in other for other, _ in found)]
        rng.shuffle(found)
        for phrase, group in found[:1 + (rng.random() < 0.4)]:
            padded = padded.replace(space + phrase + space, space + rng.choice(group) + space, 1)
        return padded.strip(" ") if lang == "en" else padded

    def keywords(self, text, lang):
        """What is left of a question typed in a hurry: its small words are gone."""
        if lang == "en":
            kept = [w for w in text.split(" ") if w.lower() not in SMALL]
            return " ".join(kept) if len(kept) >= 2 else text
        kept = SMALL_HAN.sub("", text)
        return kept if len(kept) >= 4 else text

    def spelling(self, text, lang):
        rng = self.rng
        if rng.random() < 0.35:
            text = self.reword(text, lang)
        elif rng.random() < 0.06:
            text = self.keywords(text, lang)
        if rng.random() < 0.3:
            if lang == "en":
                for a, b in CONTRACTED:
                    if rng.random() < 0.4:
                        text = text.replace(a, b)
            elif not text.isascii():
                text = JOIN.sub(" " if rng.random() < 0.5 else "", text)
        if rng.random() < 0.08:
            text = self.typo(text, lang)
        if lang == "en" and rng.random() < 0.03:
            a, b = rng.choice(SHORT)
            text = " ".join(b if w == a else w for w in text.split(" "))
        return text

    def polite(self, text, lang, exact):
        rng = self.rng
        r = rng.random()
        if r < 0.13:
            text = rng.choice(self.before[lang]) + (" " if lang == "en" else "") + text
        elif r < 0.18:
            text = rng.choice(self.greeting[lang]) + (" " if lang == "en" else "") + text
        if not exact and rng.random() < 0.08 and text[-1] not in CLOSED:
            after = rng.choice(self.after[lang])
            text += after if lang == "zh" or after[0] == "," else " " + after
        return text

    def case(self, text, exact):
        r = self.rng.random()
        if r < 0.5:
            return LONE_I.sub("I", text[:1].upper() + text[1:])
        if exact:
            return text
        return text.upper() if r < 0.52 else text.lower() if r < 0.7 else text

    def statement(self, text, lang):
        """Something told: no asking words in front of it, no question mark behind it, its words kept."""
        rng = self.rng
        if rng.random() < 0.15:
            text = rng.choice(self.greeting[lang]) + (" " if lang == "en" else "") + text
        if lang == "en" and rng.random() < 0.5:
            text = LONE_I.sub("I", text[:1].upper() + text[1:])
        return text + rng.choice(("。", "！", "", "", "～", ".") if lang == "zh" else (".", "!", "", "", "..."))

    def question(self, text, lang, exact=False):
        """`text` as a user might type it. `exact` keeps its words as they are (names, numbers, words asked about)."""
        rng = self.rng
        if not exact:
            text = self.spelling(text, lang)
        text = self.polite(text, lang, exact)
        if text[-1] not in CLOSED and rng.random() < 0.6:
            text += rng.choice(self.end[lang])
        if lang == "en":
            text = self.case(text, exact)
        elif not exact and rng.random() < 0.1:
            text = text.translate(HALF)
        r = rng.random()
        if r < 0.02:
            text = " " + text
        elif r < 0.03:
            text += " "
        elif r < 0.045:
            text += " " * (lang == "en") + rng.choice(self.face[lang])
        return text
