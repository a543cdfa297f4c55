#!/usr/bin/env python3
"""Plants one-line errors in the CUDA kernels and counts how many the emulator's check build finds.

    tests/cuda_emulator/mutate.py --build-dir BUILD [--count 20] [--seed 1] [--target cuda_kernels_check] [FILE.cu …]

A mutant deletes a barrier or a wait, turns `<` into `<=`, drops a `+ 1`, swaps two indices, or rounds the other way. The kernels
are changed in place, built and tested one at a time, and always restored; run it on a tree whose kernels are committed. Prints the
rate and, for every survivor, its difference: either an equivalent program, or a test that is missing.
"""

import argparse
import difflib
import random
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# (name, pattern, replacement); each match on a line of code is one possible mutant.
OPERATORS = [
    ("no block barrier", r"__syncthreads\(\);", ";"),
    ("no warp barrier", r"__syncwarp\(\);", ";"),
    ("no wait", r"cp_async_wait<\d+>\(\);", ";"),
    ("no fence", r"__threadfence\(\);", ";"),
    ("< to <=", r"(?<=[\w\)\]]) < (?=[\w\(])", " <= "),
    (">= to >", r" >= ", " > "),
    ("no + 1", r" \+ 1\b(?!\.)", ""),
    ("no - 1", r" - 1\b(?!\.)", ""),
    ("swapped indices", r"\[(\w+)\]\[(\w+)\]", r"[\2][\1]"),
    ("other half", r"\+ 8 \* ", "+ 4 * "),
    ("* to +", r"(?<=[\w\)]) \* (?=\w)", " + "),
    ("% to /", r" % ", " / "),
]


@dataclass(frozen=True)
class Mutant:
    path: Path
    line: int
    operator: str
    text: str  # the changed line


def mutants_of(path: Path) -> list[Mutant]:
    found = []
    for number, line in enumerate(path.read_text().splitlines()):
        code = line.split("//")[0]
        if not code.strip() or code.lstrip().startswith(("#", "template", "static_assert", "using")):
            continue
        for name, pattern, replacement in OPERATORS:
            for match in re.finditer(pattern, code):
                changed = code[: match.start()] + match.expand(replacement) + code[match.end():]
                if changed != code:
                    found.append(Mutant(path, number, name, changed))
    return found


def run(command: list[str], timeout: float) -> str:
    """Returns "ok", "failed" or "timeout"."""
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout)
    except subprocess.TimeoutExpired:
        return "timeout"
    return "ok" if done.returncode == 0 else "failed"


def verdict(mutant: Mutant, build_dir: Path, target: str, program: Path, arguments: list[str], timeout: float) -> str:
    """Returns "found", "survived" or "not built"; the source is restored whatever happens."""
    original = mutant.path.read_text()
    lines = original.split("\n")
    lines[mutant.line] = mutant.text
    try:
        mutant.path.write_text("\n".join(lines))
        if run(["cmake", "--build", str(build_dir), "--target", target], 600) != "ok":
            return "not built"
        return "survived" if run([str(program), *arguments], timeout) == "ok" else "found"
    finally:
        mutant.path.write_text(original)


def difference(mutant: Mutant) -> str:
    before = mutant.path.read_text().split("\n")
    after = before.copy()
    after[mutant.line] = mutant.text
    name = str(mutant.path.relative_to(ROOT))
    return "\n".join(difflib.unified_diff(before, after, name, name, lineterm="", n=1))


def program_of(build_dir: Path, target: str) -> Path:
    programs = [path for path in build_dir.rglob(target) if path.is_file()]
    if len(programs) != 1:
        sys.exit(f"{target}: build it first (cmake --build {build_dir} --target {target})")
    return programs[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--target", default="cuda_kernels_check")
    parser.add_argument("--count", type=int, default=20, help="number of mutants that build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for the tests of one mutant")
    parser.add_argument("--filter", default="", help="only checks whose name contains this")
    parser.add_argument("files", nargs="*", type=Path, help="kernels, default kernels/cuda/*.cu")
    arguments = parser.parse_args()

    files = [path.resolve() for path in arguments.files] or sorted((ROOT / "kernels" / "cuda").glob("*.cu"))
    candidates = [mutant for path in files for mutant in mutants_of(path)]
    random.Random(arguments.seed).shuffle(candidates)
    program = program_of(arguments.build_dir, arguments.target)
    filters = [arguments.filter] if arguments.filter else []
    if run([str(program), *filters], arguments.timeout) != "ok":
        sys.exit("the tests fail, or take too long, without a mutant")

    counts = {"found": 0, "survived": 0, "not built": 0}
    survivors = []
    for mutant in candidates:
        if counts["found"] + counts["survived"] == arguments.count:
            break
        result = verdict(mutant, arguments.build_dir, arguments.target, program, filters, arguments.timeout)
        counts[result] += 1
        print(f"{result:9}  {mutant.path.name}:{mutant.line + 1}  {mutant.operator}", flush=True)
        if result == "survived":
            survivors.append(mutant)

    run(["cmake", "--build", str(arguments.build_dir), "--target", arguments.target], 600)
    for mutant in survivors:
        print("\n" + difference(mutant))
    total = counts["found"] + counts["survived"]
    print(f"\n{counts['found']} of {total} mutants found, {counts['not built']} did not build")
    return 0


if __name__ == "__main__":
    sys.exit(main())
