"""Draws the loss of the answers' tokens over the tokens seen: python plot.py OUT.png LOG.csv [LOG.csv ...]"""
import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)


def main():
    figure, axes = plt.subplots(figsize=(7, 4))
    for log in map(Path, sys.argv[2:]):
        with log.open(newline="") as f:
            rows = [(int(r["tokens"]) / 1e6, float(r["loss"])) for r in csv.DictReader(f)]
        axes.plot(*zip(*rows) if rows else ([], []), label=log.parent.name if log.stem == "log" else log.stem, linewidth=1)
    axes.set_xlabel("tokens seen (millions)")
    axes.set_ylabel("loss of the answers' tokens (nats, running mean)")
    axes.set_yscale("log")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(sys.argv[1], dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
