"""One question with its answer, and what a follow-up may ask of it."""
from dataclasses import dataclass


@dataclass(slots=True)
class Round:
    """`both` holds the answer in each language, `short` and `more` those of the follow-ups, `topic` the topic it came from."""
    q: str
    a: str
    lang: str
    kind: str
    both: dict | None = None
    short: dict | None = None
    more: dict | None = None
    topic: dict | None = None


def numeral(n):
    """0 to 100 in Chinese."""
    digits = "零一二三四五六七八九"
    if n < 10:
        return digits[n]
    if n == 100:
        return "一百"
    tens = ("" if n < 20 else digits[n // 10]) + "十"
    return tens + (digits[n % 10] if n % 10 else "")


SMALL = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
         "eighteen nineteen").split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def english(n):
    """0 to 100 in English."""
    if n < 20:
        return SMALL[n]
    if n == 100:
        return "one hundred"
    return TENS[n // 10 - 2] + ("-" + SMALL[n % 10] if n % 10 else "")
