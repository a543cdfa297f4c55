#!/usr/bin/env python3
"""Compiles every kernel and fails when one spills registers or keeps a stack frame.

    check_ptxas.py [--nvcc NVCC] [--arch 80 ...] [--table]

What ptxas says per kernel and architecture is checked; --table prints it as Markdown (registers, static shared memory).
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
ARCHITECTURES = ["75", "80", "86", "89", "90", "120"]

ENTRY = re.compile(r"Compiling entry function '(\S+)' for 'sm_(\w+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
ELEMENT_TYPES = ["FP32", "FP16", "BF16", "INT8", "INT4"]


@dataclass
class Kernel:
    file: str
    name: str
    arch: str
    registers: int = 0
    shared: int = 0
    spilled: int = 0
    frame: int = 0


def readable(mangled: str) -> str:
    """`linear_gemv_kernel<INT4, 2>` from a mangled name."""
    name = subprocess.run(["c++filt", mangled], capture_output=True, text=True, check=True).stdout.strip()
    name = re.sub(r"\(glmchat::kernels::ElementType\)(\d)", lambda match: ELEMENT_TYPES[int(match[1])], name)
    name = name.replace("(anonymous namespace)::", "").replace("glmchat::kernels::cuda::", "")
    name = re.sub(r"\((bool|int)\)", "", name).removeprefix("void ")
    return name.split("(")[0]


def compile_file(nvcc: str, source: Path, arch: str) -> list[Kernel]:
    """Kernels of one file as ptxas describes them."""
    command = [nvcc, "-std=c++20", "-O3", f"-arch=sm_{arch}", f"-I{ROOT}", f"-I{ROOT}/kernels/include", "-Xptxas", "-v",
               "-cubin", "-o", "/dev/null", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{source.name} does not compile for sm_{arch}:\n{done.stderr}")
    kernels: list[Kernel] = []
    for line in done.stderr.splitlines():
        if match := ENTRY.search(line):
            kernels.append(Kernel(source.name, readable(match[1]), match[2]))
        elif kernels and (match := FRAME.search(line)):
            kernels[-1].frame = int(match[1])
            kernels[-1].spilled = int(match[2]) + int(match[3])
        elif kernels and (match := USED.search(line)):
            kernels[-1].registers = int(match[1])
            shared = SHARED.search(line)
            kernels[-1].shared = int(shared[1]) if shared else 0
    return kernels


def print_table(kernels: list[Kernel], architectures: list[str]) -> None:
    """One row per kernel: registers on each architecture, shared bytes."""
    print("| kernel | " + " | ".join(f"sm_{arch}" for arch in architectures) + " | shared bytes |")
    print("| --- |" + " --- |" * (len(architectures) + 1))
    rows: dict[str, dict[str, Kernel]] = {}
    for kernel in kernels:
        rows.setdefault(kernel.name, {})[kernel.arch] = kernel
    for name, by_arch in sorted(rows.items()):
        registers = " | ".join(str(by_arch[arch].registers) for arch in architectures)
        print(f"| `{name}` | {registers} | {max(kernel.shared for kernel in by_arch.values())} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", nargs="+", default=ARCHITECTURES)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    kernels = [
        kernel
        for arch in options.arch
        for source in sorted(FOLDER.glob("*.cu"))
        for kernel in compile_file(options.nvcc, source, arch)
    ]
    if options.table:
        print_table(kernels, options.arch)
    bad = [kernel for kernel in kernels if kernel.spilled > 0 or kernel.frame > 0]
    for kernel in bad:
        print(f"{kernel.file}: {kernel.name} on sm_{kernel.arch}: {kernel.spilled} bytes spilled, "
              f"{kernel.frame} bytes of stack", file=sys.stderr)
    print(f"{len(kernels)} kernels, {len(bad)} with spills or a stack frame", file=sys.stderr)
    return 1 if bad or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
