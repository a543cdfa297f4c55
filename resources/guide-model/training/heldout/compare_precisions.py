"""Perplexity and greedy agreement of the model in FP32, FP16, INT8 and INT4, measured through glmchat-cli.

    python compare_precisions.py --cli PATH/glmchat-cli [--model DIR] [--limit N] [--json FILE]

The text is every held-out question of one round that has a reference answer ("ref"), and the same questions with the
answers that FP32 gives. Prompts come from `tokenize --chat`, logits from `logits`, greedy answers from `generate`.
Prints a Markdown table. Needs numpy. Exit status: 0 good, 2 the engine could not be run.
"""
import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from score import MAX_NEW_TOKENS, MODEL, QUESTIONS, Cli, EngineError, load_items

PRECISIONS = ("fp32", "fp16", "int8", "int4")


@dataclass(frozen=True)
class Text:
    """One prompt and what follows it, as token ids; the end-of-sequence id is part of the answer."""

    prompt: list[int]
    answer: list[int]


@dataclass(frozen=True)
class Measured:
    """Of each answer token: its negative log-probability in nats, and the id the model would have chosen."""

    losses: np.ndarray
    best: np.ndarray


def join(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def answer_ids(cli, text: str) -> list[int]:
    """Ids of an answer, which follows "答：" without the dummy blank that starts a text.

    A line break is a byte token that nothing merges with, so what follows it is encoded as in the middle of a text.
    """
    got = cli.run_json("tokenize", "-", text="\n" + text)
    return got["ids"][got["pieces"].index("<0x0A>") + 1:]


def measure(logits: np.ndarray, prompt: Sequence[int], answer: Sequence[int]) -> Measured:
    """@param logits [prompt + answer (or one row less), vocabulary]; row i predicts the id at i + 1"""
    rows = logits[len(prompt) - 1:len(prompt) - 1 + len(answer)].astype(np.float64)
    highest = rows.max(axis=1)
    log_sums = highest + np.log(np.exp(rows - highest[:, None]).sum(axis=1))
    return Measured(log_sums - rows[np.arange(len(answer)), list(answer)], rows.argmax(axis=1))


def perplexity(measured: Sequence[Measured]) -> float:
    """exp of the mean loss per answer token."""
    return float(np.exp(np.concatenate([one.losses for one in measured]).mean()))


def agreement(measured: Sequence[Measured], reference: Sequence[Measured]) -> float:
    """Share of the answer tokens at which both choose the same id."""
    return float(np.concatenate([one.best == other.best for one, other in zip(measured, reference)]).mean())


class Precisions:
    """Asks glmchat-cli for logits and greedy answers in one precision."""

    def __init__(self, cli: Cli, precision: str, jobs: int):
        self.cli, self.jobs = cli, jobs
        self.options = ["--precision", precision, "--threads", str(cli.threads)]

    def logits(self, text: Text) -> Measured:
        ids = text.prompt + text.answer[:-1]  # the last id is only predicted
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "logits.npy"
            self.cli.run("logits", *self.options, "--ids", "-", "--out", str(out), text=join(ids))
            return measure(np.load(out), text.prompt, text.answer)

    def greedy(self, prompt: list[int]) -> list[int]:
        return self.cli.run_json("generate", *self.options, "--greedy", "-n", str(MAX_NEW_TOKENS), "--ids", "-",
                                 text=join(prompt))["ids"]

    def of_all(self, function, things: Sequence) -> list:
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, things))


def compare(cli: Cli, references: list[Text], eos: int, jobs: int) -> list[dict]:
    """One row per precision; FP32 comes first and is what the others are compared with."""
    rows: list[dict] = []
    prompts = [text.prompt for text in references]
    for precision in PRECISIONS:
        model = Precisions(cli, precision, jobs)
        greedy = model.of_all(model.greedy, prompts)
        if not rows:
            fp32_greedy = greedy
            own = [Text(prompt, [*ids, eos]) for prompt, ids in zip(prompts, greedy)]
        on_reference = model.of_all(model.logits, references)
        on_own = model.of_all(model.logits, own)
        if not rows:
            fp32 = (on_reference, on_own)
        rows.append({
            "precision": precision.upper(),
            "perplexity_reference": perplexity(on_reference),
            "perplexity_own": perplexity(on_own),
            "agreement_reference": agreement(on_reference, fp32[0]),
            "agreement_own": agreement(on_own, fp32[1]),
            "same_answers": sum(a == b for a, b in zip(greedy, fp32_greedy)),
            "answers": len(greedy),
        })
    return rows


def table(rows: list[dict]) -> str:
    """The rows as Markdown."""
    head = ["| precision | perplexity, reference answers | perplexity, FP32's answers | same next token as FP32, "
            "reference answers | same next token, FP32's answers | same greedy answer as FP32 |",
            "| --- | ---: | ---: | ---: | ---: | ---: |"]
    return "\n".join(head + [
        f"| {row['precision']} | {row['perplexity_reference']:.3f} | {row['perplexity_own']:.4f} "
        f"| {100 * row['agreement_reference']:.2f} % | {100 * row['agreement_own']:.2f} % "
        f"| {row['same_answers']} / {row['answers']} |" for row in rows])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", required=True, help="the glmchat-cli program")
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--limit", type=int, help="only so many questions, spread over the file")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    arguments = parser.parse_args()

    items = [item for item in load_items(arguments.questions) if "ref" in item]
    items = items[::max(1, len(items) // arguments.limit)][:arguments.limit] if arguments.limit else items
    eos = json.loads((arguments.model / "config.json").read_text(encoding="utf-8"))["eos_token_id"]
    cli = Cli(arguments.cli, arguments.model, arguments.threads)

    def to_text(item):
        prompt = cli.run_json("tokenize", "--chat", "-", text=item["rounds"][0]["q"])["ids"]
        return Text(prompt, [*answer_ids(cli, item["ref"]), eos])

    try:
        with ThreadPoolExecutor(arguments.jobs) as pool:
            references = list(pool.map(to_text, items))
        rows = compare(cli, references, eos, arguments.jobs)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{len(items)} questions, {sum(len(text.answer) for text in references)} tokens in the reference answers\n")
    print(table(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
