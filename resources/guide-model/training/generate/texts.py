"""Reads the text files in data/: topics, scripted dialogues, patterns, sections. Errors name file and line."""
import json
import re
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
LANGS = ("zh", "en")
TOPIC_KEYS = {"q": "list", "x": "list", "d": "list", "a": "line", "s": "line", "m": "line"}
SECTION_FILES = {"pairs.txt", "outside.txt", "values.txt", "names.txt", "rhymes.txt", "words.txt"}


class DataError(ValueError):
    """A line of a data file that breaks its format."""

    def __init__(self, path, number, what):
        super().__init__(f"{Path(path).name}:{number}: {what}")


def unescape(text):
    r"""`\n` and `\\` as they stand in answers."""
    return re.sub(r"\\([n\\])", lambda m: "\n" if m.group(1) == "n" else "\\", text)


def lines(path):
    """(number, text) of the lines that are neither empty nor comments."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()


def split(path, number, text):
    parts = [p.strip() for p in text.split(" | ")]
    if not all(parts):
        raise DataError(path, number, "an empty alternative")
    return parts


def new_side():
    return {key: [] for key in TOPIC_KEYS}


def read_topics(path, by_id):
    """Adds the topics of one file to `by_id`: {"id", "zh": {"q", "x", "d", "a", "s", "m"}, "en": {...}}."""
    topic = None
    for number, line in lines(path):
        key, _, rest = line.partition(" ")
        rest = rest.strip()
        if not rest:
            raise DataError(path, number, f"nothing after {key!r}")
        if key == "@":
            topic = by_id.setdefault(rest, {"id": rest, "file": path.name, "zh": new_side(), "en": new_side()})
            continue
        if len(key) != 2 or key[0] not in "ze" or key[1] not in TOPIC_KEYS:
            raise DataError(path, number, f"unknown key {key!r}")
        if topic is None:
            raise DataError(path, number, "a line before the first topic")
        side = topic["zh" if key[0] == "z" else "en"]
        if TOPIC_KEYS[key[1]] == "line":
            side[key[1]].append(unescape(rest))
        else:
            side[key[1]] += split(path, number, rest)


def read_scripts(path):
    """Scripted dialogues of one file: [{"id", "lang", "rounds": [([wordings], answer), ...]}]."""
    scripts, wordings = [], None
    for number, line in lines(path):
        key, _, rest = line.partition(" ")
        rest = rest.strip()
        if key not in ("=", "Q", "A") or not rest:
            raise DataError(path, number, "expected '= id lang', 'Q wordings' or 'A answer'")
        if (key == "A") != (wordings is not None):
            raise DataError(path, number, "questions and answers do not alternate")
        if key == "=":
            name, _, lang = rest.rpartition(" ")
            if lang not in LANGS or not name:
                raise DataError(path, number, "expected '= id zh' or '= id en'")
            scripts.append({"id": name, "lang": lang, "rounds": []})
        elif not scripts:
            raise DataError(path, number, "a round before the first '= id lang'")
        elif key == "Q":
            wordings = split(path, number, rest)
        else:
            scripts[-1]["rounds"].append((wordings, unescape(rest)))
            wordings = None
    if wordings is not None:
        raise DataError(path, number, "a question without an answer at the end")
    return [s for s in scripts if s["rounds"]]


def read_sections(path, columns=None):
    """{section: rows}; a row is the list of its ` | ` parts. `columns` gives the number of parts a section must have."""
    sections, rows, name = {}, None, None
    for number, line in lines(path):
        if line.startswith("[") and line.endswith("]"):
            name = line[1:-1]
            rows = sections.setdefault(name, [])
            continue
        if rows is None:
            raise DataError(path, number, "a line before the first [section]")
        row = split(path, number, line)
        if columns and name in columns and len(row) != columns[name]:
            raise DataError(path, number, f"{len(row)} parts instead of {columns[name]}")
        rows.append(row)
    return sections


def read_patterns(path):
    """{name: {"zh": [...], "en": [...]}} of sections whose lines begin with `zh ` or `en `."""
    patterns, side = {}, None
    for number, line in lines(path):
        if line.startswith("[") and line.endswith("]"):
            side = patterns.setdefault(line[1:-1], {"zh": [], "en": []})
            continue
        lang, _, rest = line.partition(" ")
        if lang not in LANGS or side is None:
            raise DataError(path, number, "expected [section] or a line that begins with zh or en")
        side[lang] += [unescape(p) for p in split(path, number, rest)]
    return patterns


def first_line(path):
    return next((line for _, line in lines(path)), "")


def load_topics(folder=DATA):
    """All topics and scripts of the folder; a file belongs to the kind that its first line shows."""
    by_id, scripts = {}, []
    for path in sorted(folder.glob("*.txt")):
        start = first_line(path)
        if path.name.startswith("dialogues_") or start.startswith("= "):
            scripts += read_scripts(path)
        elif start.startswith("@"):
            read_topics(path, by_id)
    return list(by_id.values()), scripts


def read_synonyms(path):
    """{lang: [(phrase, its group)]}: the phrases that may be exchanged, each with all words of its group."""
    return {lang: [(phrase, group) for group in groups for phrase in group if lang == "en" or len(phrase) > 1]
            for lang, groups in read_sections(path).items()}


def load_mix(folder=DATA):
    return json.loads((folder / "mix.json").read_text(encoding="utf-8"))
