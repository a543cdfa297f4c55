"""Asks glmchat's own engine the held-out questions and counts the right answers.

    python score.py --cli PATH/glmchat-cli [--model DIR] [--json FILE] [--jobs 2] [--threads 1]

Every round is one greedy `glmchat-cli chat`; the earlier rounds of a dialogue carry the model's own answers. Prints a
table per topic, the failures with their answers, the answers that ran into the token limit and those that loop.
Exit status: 0 good, 1 below --min-right or --min-outside, 2 the engine could not be run.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
QUESTIONS = HERE / "questions.jsonl"
MODEL = HERE.parent.parent
TOPICS = ("manners", "self", "app", "lm", "skills", "generated", "memory", "outside")
OUTSIDE = "outside"
FLAGS = re.IGNORECASE | re.DOTALL
MAX_NEW_TOKENS = 300

# A passage of at least eight characters, with a letter or digit in it, that stands four times in a row.
PASSAGE_LOOP = re.compile(r"((?=.{0,80}?\w).{8,400}?)\1{3}", re.DOTALL)
# "I do not know" is the right answer outside the model's topics and a wrong one within them, whatever else it says.
REFUSAL = re.compile(
    r"\bI (do not|don't) know (that|this)\b|\bthat is (beyond me|too hard for me)|cannot answer that|never learnt that"
    r"|only know a little about|not sure and do not want|too small to help|not among the things"
    r"|\bdid not (understand|get) that|not clear to me"
    r"|这个我不知道|超出了?我|答不上来|没学过这个|请问 ?ChatGLM|对我来说太难|我不清楚|帮不上|不在我会|没有?[听看]?[明懂]白?[，。]",
    FLAGS)

MIN_SENTENCE = 4  # letters and digits; shorter ones ("}", "No") may well come again
MAX_SAME_SENTENCE = 2


class EngineError(Exception):
    """glmchat-cli could not be started, ended with an error or printed something else than its JSON."""


@dataclass(frozen=True)
class Answer:
    """What the model said, and whether only the token limit ended it."""

    text: str
    hit_limit: bool = False


@dataclass(frozen=True)
class Verdict:
    """A dialogue with its answers and what was found in them."""

    item: dict
    answers: list[Answer]
    right: bool

    @property
    def hit_limit(self) -> bool:
        return any(answer.hit_limit for answer in self.answers)

    @property
    def loops(self) -> bool:
        return any(is_looping(answer.text) for answer in self.answers)


class Cli:
    """Runs glmchat-cli on one model folder, one process a call."""

    def __init__(self, program: str | Path, model: str | Path, threads: int = 1):
        self.program, self.model, self.threads = str(program), str(model), threads

    def run(self, command: str, *options: str, text: str | None = None) -> bytes:
        """@return standard output; `text` goes to standard input. Raises EngineError."""
        line = [self.program, command, "--model", self.model, *options]
        try:
            done = subprocess.run(line, input=(text or "").encode(), capture_output=True, check=False)
        except OSError as error:
            raise EngineError(f"{self.program} cannot be run: {error}") from error
        if done.returncode != 0:
            raise EngineError(f"glmchat-cli {command} ended with {done.returncode}: {done.stderr.decode().strip()}")
        return done.stdout

    def run_json(self, command: str, *options: str, text: str | None = None) -> dict:
        """The object printed with --json. Raises EngineError."""
        out = self.run(command, "--json", *options, text=text)
        try:
            return json.loads(out)
        except ValueError as error:
            raise EngineError(f"glmchat-cli {command} printed no JSON: {out[:200]!r}") from error

    def answer(self, history: list[dict], question: str) -> Answer:
        """Greedy answer to `question` after `history`, a list of {"role", "content"}."""
        options = ["--threads", str(self.threads), "--temperature", "0", "--max-new-tokens", str(MAX_NEW_TOKENS)]
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            json.dump(history, file)
            file.flush()
            got = self.run_json("chat", *options, "--history", file.name, "-", text=question)
        return Answer(got["text"], got["finish_reason"] == "max_new_tokens")


def load_items(path: Path = QUESTIONS) -> list[dict]:
    """The dialogues of the file, one JSON object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def is_right(topic: str, expected: dict, text: str) -> bool:
    """True when one of the round's "accept" patterns is found in the answer, none of its "reject" patterns, and,
    within the model's topics, no refusal."""
    def found(patterns):
        return any(re.search(pattern, text, FLAGS) for pattern in patterns)
    if topic != OUTSIDE and REFUSAL.search(text):
        return False
    return found(expected["accept"]) and not found(expected.get("reject", []))


def is_looping(text: str) -> bool:
    """True when a passage stands four times in a row or one sentence three times anywhere."""
    if PASSAGE_LOOP.search(text):
        return True
    counts: dict[str, int] = {}
    for sentence in re.split(r"[.!?。！？\n]+", text.lower()):
        plain = "".join(filter(str.isalnum, sentence))
        if len(plain) >= MIN_SENTENCE:
            counts[plain] = counts.get(plain, 0) + 1
    return max(counts.values(), default=0) > MAX_SAME_SENTENCE


def hold_dialogue(engine, item: dict) -> Verdict:
    """Asks all rounds in turn; right when every scored round is. `engine` needs answer(history, question)."""
    history: list[dict] = []
    answers: list[Answer] = []
    right = True
    for part in item["rounds"]:
        answer = engine.answer(history, part["q"])
        answers.append(answer)
        if "accept" in part:
            right = right and is_right(item["topic"], part, answer.text)
        history += [{"role": "user", "content": part["q"]}, {"role": "assistant", "content": answer.text}]
    return Verdict(item, answers, right)


def share(verdicts: list[Verdict]) -> dict:
    """{"n", "right", "percent"} of some dialogues; percent is None where there are none."""
    n, right = len(verdicts), sum(verdict.right for verdict in verdicts)
    return {"n": n, "right": right, "percent": round(100 * right / n, 1) if n else None}


def summarise(verdicts: list[Verdict]) -> dict:
    """Counts by topic and language, the totals, and the answers that failed, ran into the limit or loop."""
    def group(keep):
        kept = [verdict for verdict in verdicts if keep(verdict.item)]
        languages = {lang: share([v for v in kept if v.item["lang"] == lang]) for lang in ("zh", "en")}
        return {**share(kept), **languages}

    def transcript(verdict):
        return {"id": verdict.item["id"],
                "rounds": [[part["q"], answer.text] for part, answer in zip(verdict.item["rounds"], verdict.answers)]}

    return {
        "topics": {topic: group(lambda item, topic=topic: item["topic"] == topic) for topic in TOPICS},
        "inside": group(lambda item: item["topic"] != OUTSIDE),
        "several_rounds": group(lambda item: item["topic"] != OUTSIDE and len(item["rounds"]) > 1),
        "outside": group(lambda item: item["topic"] == OUTSIDE),
        "answers": sum(len(verdict.answers) for verdict in verdicts),
        "token_limit": [verdict.item["id"] for verdict in verdicts if verdict.hit_limit],
        "loops": [verdict.item["id"] for verdict in verdicts if verdict.loops],
        "failures": [transcript(verdict) for verdict in verdicts if not verdict.right],
    }


def table(summary: dict) -> str:
    """The counts as a Markdown table."""
    def cell(part):
        return f"{part['right']} / {part['n']}"

    def line(name, part):
        percent = "–" if part["percent"] is None else f"{part['percent']:.1f} %"
        return f"| {name} | {cell(part)} | {percent} | {cell(part['zh'])} | {cell(part['en'])} |"

    rows = [line(topic, part) for topic, part in summary["topics"].items() if topic != OUTSIDE]
    rows += [line("**all of these**", summary["inside"]), line("of them in several rounds", summary["several_rounds"]),
             line("outside, without confident nonsense", summary["outside"])]
    return "\n".join(["| topic | right | share | zh | en |", "| --- | ---: | ---: | ---: | ---: |", *rows])


def report(summary: dict, with_failures: bool) -> None:
    """Prints the summary."""
    if with_failures:
        for failure in summary["failures"]:
            print(f"✗ {failure['id']}")
            for question, answer in failure["rounds"]:
                print(f"    Q {question}\n    A {answer!r}")
        print()
    print(table(summary))
    print(f"\nanswers: {summary['answers']}; dialogues with an answer cut at {MAX_NEW_TOKENS} tokens: "
          f"{len(summary['token_limit'])} {summary['token_limit']}; with a loop: {len(summary['loops'])} "
          f"{summary['loops']}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", required=True, help="the glmchat-cli program")
    parser.add_argument("--model", type=Path, default=MODEL, help="model folder (default: the guide model)")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--topic", choices=TOPICS, help="only this topic")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of one process")
    parser.add_argument("--jobs", type=int, default=2, help="dialogues at the same time")
    parser.add_argument("--json", type=Path, help="write the summary to this file")
    parser.add_argument("--no-failures", action="store_true", help="print only the table")
    parser.add_argument("--min-right", type=float, default=0, help="least percentage right inside the topics")
    parser.add_argument("--min-outside", type=float, default=0, help="least percentage right outside of them")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    items = [i for i in load_items(arguments.questions) if arguments.topic in (None, i["topic"])]
    cli = Cli(arguments.cli, arguments.model, arguments.threads)
    try:
        with ThreadPoolExecutor(arguments.jobs) as pool:
            verdicts = list(pool.map(lambda item: hold_dialogue(cli, item), items))
    except EngineError as error:
        print(error, file=sys.stderr)
        return 2
    summary = summarise(verdicts)
    report(summary, not arguments.no_failures)
    if arguments.json:
        arguments.json.write_text(json.dumps(summary, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    wanted = (("inside", arguments.min_right), ("outside", arguments.min_outside))
    return int(any((summary[part]["percent"] or 0) < least for part, least in wanted if summary[part]["n"]))


if __name__ == "__main__":
    raise SystemExit(main())
