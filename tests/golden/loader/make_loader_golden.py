"""Makes the files of this folder: small weight files in every layout, and expected.json with what a loader must give.

usage: python3 make_loader_golden.py      (standard library only; the result is the same on every run)
"""
import json
import pathlib
import random
import struct
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from torch_files import (DTYPES, Storage, Tensor, row_major_strides, save_legacy, save_safetensors, save_sharded,  # noqa: E402
                         save_zip, tensor)


def random_bytes(source, count):
    return bytes(source.randrange(256) for _ in range(count))


def every_case():
    """One tensor per dtype (any bits, NaNs too) and the odd but legal ones."""
    source = random.Random(20230625)
    weights = {f"type.{name}": tensor(name, (3, 2), random_bytes(source, 6 * size)) for name, (_, _, size) in DTYPES.items()}
    weights["type.bool"] = tensor("bool", (3, 2), b"\0\1\1\0\1\0")
    shared = Storage("float32", struct.pack("<24f", *range(24)))
    weights["view.first"] = Tensor(shared, (3, 4), row_major_strides((3, 4)))
    weights["view.second"] = Tensor(shared, (2, 5), row_major_strides((2, 5)), offset=12)
    weights["stride.transposed"] = Tensor(shared, (4, 6), (1, 4))
    weights["stride.every_third"] = Tensor(shared, (8,), (3,))
    weights["stride.permuted"] = Tensor(Storage("int16", random_bytes(source, 48)), (2, 3, 4), (1, 2, 6))
    weights["stride.single_row"] = Tensor(Storage("uint8", random_bytes(source, 5)), (1, 5), (99, 1))
    weights["scalar"] = tensor("float64", (), struct.pack("<d", 0.1))
    weights["empty"] = tensor("float16", (0, 4), b"")
    weights["parameter"] = tensor("float32", (2, 2), struct.pack("<4f", 1, 2, 3, 4))
    weights["parameter"].parameter = True
    weights["名字 里有空格\u3000"] = tensor("int8", (1,), b"\x80")
    return weights


def expected(weights):
    return [{"name": name, "dtype": value.storage.dtype, "shape": list(value.shape), "hex": value.row_major_bytes().hex()}
            for name, value in weights.items()]


def main():
    weights = every_case()
    save_zip(FOLDER / "zip_aligned.bin", weights, root="zip_aligned")
    save_zip(FOLDER / "zip_unaligned.bin", weights, root="模型 文件夹", align=1)
    save_zip(FOLDER / "zip64_sizes.bin", weights, root="archive", zip64=True)
    save_legacy(FOLDER / "legacy.bin", weights)
    save_safetensors(FOLDER / "plain.safetensors", weights)
    for name, save in (("sharded_zip", save_zip), ("sharded_legacy", save_legacy), ("sharded_safetensors", save_safetensors)):
        (FOLDER / name).mkdir(exist_ok=True)
        save_sharded(FOLDER / name, weights, 3, save)
    (FOLDER / "expected.json").write_text(json.dumps(expected(weights), indent=1) + "\n")


if __name__ == "__main__":
    main()
