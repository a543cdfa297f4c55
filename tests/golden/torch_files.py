"""Writes weight files as torch.save and safetensors do, without torch: the zip format, the legacy format and safetensors.

Needs only the standard library; NumPy arrays are welcome through from_numpy. The layouts are spelt out here, not
produced by pickle or zipfile, so that a test can also ask for the odd but legal cases: any root folder in the zip, unaligned
data, zip64 sizes, tensors that share a storage or stride through it.

    weights = {"w": from_numpy(numpy.zeros((2, 3), numpy.float16)), "b": tensor("bfloat16", (2,), b"\\0" * 4)}
    save_zip("pytorch_model.bin", weights)
    save_legacy("pytorch_model.bin", weights)
    save_safetensors("model.safetensors", weights)
    save_sharded(folder, weights, num_shards=2, save=save_zip)
"""
import dataclasses
import json
import pathlib
import struct
import zlib

# dtype: (torch storage class, safetensors name, bytes per element)
DTYPES = {
    "float64": ("DoubleStorage", "F64", 8),
    "float32": ("FloatStorage", "F32", 4),
    "float16": ("HalfStorage", "F16", 2),
    "bfloat16": ("BFloat16Storage", "BF16", 2),
    "int64": ("LongStorage", "I64", 8),
    "int32": ("IntStorage", "I32", 4),
    "int16": ("ShortStorage", "I16", 2),
    "int8": ("CharStorage", "I8", 1),
    "uint8": ("ByteStorage", "U8", 1),
    "bool": ("BoolStorage", "BOOL", 1),
}


@dataclasses.dataclass(eq=False)
class Storage:
    """Raw little-endian elements; several tensors may look into one storage."""

    dtype: str
    data: bytes

    def num_elements(self):
        return len(self.data) // DTYPES[self.dtype][2]


@dataclasses.dataclass
class Tensor:
    """A window into a storage: shape and strides in elements, from element `offset` on."""

    storage: Storage
    shape: tuple
    strides: tuple
    offset: int = 0
    parameter: bool = False  # an nn.Parameter instead of a plain tensor

    def row_major_bytes(self):
        """The elements in row-major order, as a loader must give them."""
        size = DTYPES[self.storage.dtype][2]
        indices = [self.offset]
        for extent, stride in zip(self.shape, self.strides):
            indices = [index + step * stride for index in indices for step in range(extent)]
        return b"".join(self.storage.data[index * size:(index + 1) * size] for index in indices)


def row_major_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= max(extent, 1)
    return tuple(strides)


def tensor(dtype, shape, data):
    """A contiguous tensor with a storage of its own; `data` are its raw little-endian bytes."""
    return Tensor(Storage(dtype, bytes(data)), tuple(shape), row_major_strides(shape))


def from_numpy(array, dtype=None):
    """A contiguous tensor of a NumPy array. bfloat16: pass the bit patterns as uint16 and dtype="bfloat16"."""
    return tensor(dtype or str(array.dtype), array.shape, array.tobytes())


class PickleWriter:
    """The opcodes that torch.save makes of a state dict, protocol 2."""

    def __init__(self, legacy=False):
        self.out = bytearray(b"\x80\x02")
        self.legacy = legacy
        self.storages = {}  # id -> (key, storage), in order of first use
        self.memo = {}  # opcodes -> index

    def keep(self, opcodes):
        """Writes opcodes that push one value; the second time, fetches it from the memo as pickle does."""
        known = opcodes in self.memo
        index = self.memo.setdefault(opcodes, len(self.memo))
        short = index < 256
        where = bytes([index]) if short else struct.pack("<I", index)
        if known:
            self.out += (b"h" if short else b"j") + where
        else:
            self.out += opcodes + (b"q" if short else b"r") + where

    def text(self, text):
        data = text.encode()
        self.keep(b"X" + struct.pack("<I", len(data)) + data)

    def whole(self, number):
        if 0 <= number < 256:
            self.out += b"K" + bytes([number])
        elif -2**31 <= number < 2**31:
            self.out += b"J" + struct.pack("<i", number)
        else:
            data = number.to_bytes((number.bit_length() + 8) // 8, "little", signed=True)
            self.out += b"\x8a" + bytes([len(data)]) + data

    def name(self, module, name):
        self.keep(b"c" + module.encode() + b"\n" + name.encode() + b"\n")

    def boolean(self, value):
        self.out += b"\x88" if value else b"\x89"

    def wholes(self, numbers):
        self.out += b"("
        for number in numbers:
            self.whole(number)
        self.out += b"t"

    def empty_ordered_dict(self):
        self.name("collections", "OrderedDict")
        self.out += b")R"

    def storage(self, storage):
        key, _ = self.storages.setdefault(id(storage), (str(len(self.storages)), storage))
        self.out += b"("
        self.text("storage")
        self.name("torch", DTYPES[storage.dtype][0])
        self.text(key)
        self.text("cpu")
        self.whole(storage.num_elements())
        self.out += b"NtQ" if self.legacy else b"tQ"

    def tensor(self, value):
        if value.parameter:
            self.name("torch._utils", "_rebuild_parameter")
            self.out += b"("
        self.name("torch._utils", "_rebuild_tensor_v2")
        self.out += b"("
        self.storage(value.storage)
        self.whole(value.offset)
        self.wholes(value.shape)
        self.wholes(value.strides)
        self.boolean(False)
        self.empty_ordered_dict()
        self.out += b"tR"
        if value.parameter:
            self.boolean(True)
            self.empty_ordered_dict()
            self.out += b"tR"

    def state_dict(self, weights):
        self.empty_ordered_dict()
        self.out += b"("
        for name, value in weights.items():
            self.text(name)
            self.tensor(value)
        self.out += b"u"

    def module_metadata(self):
        """What Module.state_dict() attaches to its OrderedDict: {"_metadata": OrderedDict()}."""
        self.out += b"}"
        self.text("_metadata")
        self.empty_ordered_dict()
        self.out += b"sb"

    def finish(self):
        return bytes(self.out) + b"."


def zip_bytes(entries, align=64, zip64=False):
    """A zip archive of stored entries [(name, data)] as torch's writer lays it out: sizes only in the directory and behind
    the data, data aligned by an extra field, zip64 end record. zip64=True also puts every size into zip64 extra fields."""
    out, directory = bytearray(), bytearray()
    for name, data in entries:
        raw_name, crc, begin = name.encode(), zlib.crc32(data), len(out)
        padding = -(begin + 30 + len(raw_name) + 4) % align
        extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
        out += struct.pack("<4s5H3I2H", b"PK\x03\x04", 0, 0x0808, 0, 0, 0, 0, 0, 0, len(raw_name), len(extra))
        out += raw_name + extra + data
        out += struct.pack("<4s3I", b"PK\x07\x08", crc, len(data), len(data))
        sizes, place, extra = (len(data), len(data)), begin, b""
        if zip64:
            extra = struct.pack("<2H3Q", 1, 24, len(data), len(data), begin)
            sizes, place = (0xFFFFFFFF, 0xFFFFFFFF), 0xFFFFFFFF
        directory += struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 0, 0, 0x0808, 0, 0, 0, crc, *sizes, len(raw_name), len(extra),
                                 0, 0, 0, 0, place) + raw_name + extra
    begin, end = len(out), len(out) + len(directory)
    out += directory
    out += struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 0x31E, 0x2D, 0, 0, len(entries), len(entries), len(directory), begin)
    out += struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
    short = (0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF) if zip64 else (len(entries), len(directory), begin)
    out += struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, short[0], short[0], short[1], short[2], 0)
    return bytes(out)


def save_zip(path, weights, root="archive", align=64, zip64=False):
    """torch.save(state_dict, path), torch 1.6 and later."""
    writer = PickleWriter()
    writer.state_dict(weights)
    entries = [(f"{root}/data.pkl", writer.finish())]
    entries += [(f"{root}/data/{key}", storage.data) for key, storage in writer.storages.values()]
    entries += [(f"{root}/version", b"3\n")]
    pathlib.Path(path).write_bytes(zip_bytes(entries, align, zip64))


def save_legacy(path, weights):
    """torch.save(model.state_dict(), path), before torch 1.6."""
    magic = b"\x80\x02\x8a\x0a" + (0x1950A86A20F9469CFC6C).to_bytes(10, "little") + b"."
    protocol = b"\x80\x02M" + struct.pack("<H", 1001) + b"."
    facts = PickleWriter()
    facts.out += b"}("
    facts.text("protocol_version")
    facts.whole(1001)
    facts.text("little_endian")
    facts.boolean(True)
    facts.out += b"u"
    writer = PickleWriter(legacy=True)
    writer.state_dict(weights)
    writer.module_metadata()
    keys = PickleWriter()
    keys.out += b"]("
    for key, _ in writer.storages.values():
        keys.text(key)
    keys.out += b"e"
    out = magic + protocol + facts.finish() + writer.finish() + keys.finish()
    for _, storage in writer.storages.values():
        out += struct.pack("<q", storage.num_elements()) + storage.data
    pathlib.Path(path).write_bytes(out)


def save_safetensors(path, weights):
    """safetensors.torch.save_file: strides are written out, parts of one storage become tensors of their own."""
    header, data = {"__metadata__": {"format": "pt"}}, bytearray()
    for name, value in weights.items():
        begin = len(data)
        data += value.row_major_bytes()
        header[name] = {"dtype": DTYPES[value.storage.dtype][1], "shape": list(value.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def save_sharded(folder, weights, num_shards, save=save_zip):
    """The files and the index that save_pretrained writes: tensors dealt to the shards in order."""
    stem, extension = ("model", ".safetensors") if save is save_safetensors else ("pytorch_model", ".bin")
    names, weight_map, total = list(weights), {}, 0
    for shard in range(num_shards):
        part = names[shard * len(names) // num_shards:(shard + 1) * len(names) // num_shards]
        shard_name = f"{stem}-{shard + 1:05}-of-{num_shards:05}{extension}"
        save(pathlib.Path(folder) / shard_name, {name: weights[name] for name in part})
        weight_map.update({name: shard_name for name in part})
        total += sum(len(weights[name].row_major_bytes()) for name in part)
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (pathlib.Path(folder) / f"{stem}{extension}.index.json").write_text(json.dumps(index, indent=2) + "\n")
