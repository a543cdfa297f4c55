"""Writes sampling.json: logits and the exact distribution that each set of sampling options leaves.

A plain restatement of the rules in engine/sampling/sampler.h that shares no code with it: whole arrays, full sorts, float32
scores, float64 probabilities. Run: python3 make_sampling_golden.py (numpy). The output is the same on every run.
"""

import json
import pathlib

import numpy as np

DEFAULTS = {
    "temperature": 1.0,
    "top_k": 0,
    "top_p": 1.0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
# What C++ holds in a float and computes with in double.
AS_FLOAT32 = lambda value: float(np.float32(value))


def softmax(scores):
    weights = np.exp(scores.astype(np.float64) - np.float64(scores.max()))
    return weights / weights.sum()


def distribution(logits, options, prompt_ids, new_ids):
    scores = logits.astype(np.float32).copy()
    penalty = np.float32(options["repetition_penalty"])
    if penalty != 1:
        seen = np.unique(np.array(prompt_ids + new_ids, dtype=np.int64))
        scores[seen] = np.where(scores[seen] < 0, scores[seen] * penalty, scores[seen] / penalty)
    for token_id in sorted(set(new_ids)):
        count = np.float32(new_ids.count(token_id))
        presence, frequency = np.float32(options["presence_penalty"]), np.float32(options["frequency_penalty"])
        scores[token_id] -= presence + count * frequency
    if options["temperature"] <= 1e-5:
        probabilities = np.zeros(len(scores))
        probabilities[np.argmax(scores)] = 1  # the first of equals
        return probabilities
    scores = scores / np.float32(options["temperature"])

    kept = np.ones(len(scores), dtype=bool)
    if 0 < options["top_k"] < len(scores):
        kept &= scores >= np.sort(scores)[-options["top_k"]]
    if options["top_p"] < 1:
        order = np.lexsort((-np.arange(len(scores)), np.where(kept, scores, -np.inf)))  # of equals, the higher id first
        running = np.cumsum(softmax(np.where(kept, scores, -np.inf))[order])
        dropped = running <= 1 - AS_FLOAT32(options["top_p"])
        dropped[-1] = False
        kept[order[dropped]] = False
    if options["min_p"] > 0:
        probabilities = softmax(np.where(kept, scores, -np.inf))
        kept &= probabilities >= AS_FLOAT32(options["min_p"]) * probabilities.max()
    return softmax(np.where(kept, scores, -np.inf))


def logits_sets():
    random = np.random.default_rng(20230625)
    return {
        "normal": random.normal(0, 3, 64).astype(np.float32),
        "negative": (random.normal(0, 1, 48) - 20).astype(np.float32),
        "peaked": np.where(np.arange(32) == 7, 30, random.normal(0, 1, 32)).astype(np.float32),
        "flat": np.zeros(16, dtype=np.float32),
        "ties": random.integers(-3, 4, 40).astype(np.float32),
        "single": np.array([1.5], dtype=np.float32),
    }


OPTION_SETS = [
    {},
    {"temperature": 0.0},
    {"temperature": 1e-5},
    {"temperature": 0.0, "repetition_penalty": 2.0},
    {"temperature": 0.7},
    {"temperature": 5.0, "top_k": 5},
    {"top_k": 1},
    {"top_k": 7},
    {"top_k": 1000},
    {"top_p": 0.0},
    {"top_p": 0.3},
    {"top_p": 0.9},
    {"min_p": 0.05},
    {"min_p": 1.0},
    {"top_p": 0.95, "min_p": 0.2},
    {"top_k": 12, "top_p": 0.8, "min_p": 0.02, "temperature": 1.4},
    {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.7},
    {"presence_penalty": 1.5},
    {"frequency_penalty": 0.75},
    {"presence_penalty": -1.0, "frequency_penalty": 0.5},
    {"repetition_penalty": 1.2, "presence_penalty": 0.5, "frequency_penalty": 0.25, "temperature": 0.8, "top_k": 20, "top_p": 0.8},
]


def main():
    sets = logits_sets()
    cases = []
    for name, logits in sets.items():
        vocab = len(logits)
        prompt_ids = [3 % vocab, 7 % vocab, 7 % vocab, 11 % vocab]
        new_ids = [5 % vocab, 7 % vocab, 5 % vocab, 0, 5 % vocab]
        for number, changed in enumerate(OPTION_SETS):
            probabilities = distribution(logits, DEFAULTS | changed, prompt_ids, new_ids)
            ids = np.flatnonzero(probabilities)
            cases.append({
                "name": f"{name}_{number:02}",
                "logits": name,
                "options": DEFAULTS | changed,
                "prompt_ids": prompt_ids,
                "new_ids": new_ids,
                "ids": ids.tolist(),
                "probabilities": [float(f"{p:.9g}") for p in probabilities[ids]],
            })
    lines = ["{", '"logits": {']
    lines += [f'"{name}": {json.dumps([float(f"{v:.9g}") for v in values])},' for name, values in sets.items()]
    lines[-1] = lines[-1].rstrip(",")
    lines += ["},", '"cases": [']
    lines += [json.dumps(case) + "," for case in cases]
    lines[-1] = lines[-1].rstrip(",")
    lines += ["]", "}"]
    pathlib.Path(__file__).with_name("sampling.json").write_text("\n".join(lines) + "\n", encoding="ascii")


main()
