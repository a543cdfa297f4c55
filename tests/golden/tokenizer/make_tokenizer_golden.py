"""Makes the small vocabulary and the expected ids of tests/engine/text, from text written here.

tokenizer.model is trained with the sentencepiece package (any recent version). The expected ids come from encode() and
decode() below, an implementation of the published rules that shares nothing with sentencepiece: cases.json therefore
tests both our wrapper and the library under it.

usage: python3 make_tokenizer_golden.py   (writes tokenizer.model and cases.json beside itself)
"""
import io
import json
import pathlib
import random
import struct

import sentencepiece

FOLDER = pathlib.Path(__file__).parent
SPACE = "\u2581"
REPLACEMENT = "\ufffd"

TRAINING_TEXT = """
[Round 1]

问：你好，请介绍一下你自己。

答：你好！我是一个小小的测试词表，只认识很少的词。
今天天气很好，我们去公园散步，看见了许多花和树。
语言模型把文字切成词元，再预测下一个词元。
The quick brown fox jumps over the lazy dog while the rain keeps falling on the roof.
A tokenizer cuts text into pieces; the model reads the pieces and writes the next one.
Hello! How are you today? I am fine, thank you. What can you do for me?
def add(a, b):
    return a + b
for (int i = 0; i < 10; ++i) { total += values[i]; }
数字 0 1 2 3 4 5 6 7 8 9 和标点：，。！？；“”（）《》
[Round 2]

问：谢谢你的帮助，再见。

答：不客气，欢迎再来。
"""

TEXTS = [
    "", " ", "  ", "   three", "\n", "\r\n", "\t", "\n\n\n", "你好", "你好！", "你 好", " 你好", "你好 ", "Hello", " Hello", "Hello ",
    "Hello!  How are you?", "hello world", "HELLO", "The quick brown fox", "a", "ab", "tokenizer", "词元", "一下你自己",
    "[Round 1]\n\n问：你好\n\n答：", "\n\n[Round 2]\n\n问：再见\n\n答：", "[gMASK]", "sop", "</s>", "<s>", "<unk>", "<0x41>", "[MASK] eop",
    "<|user|>", SPACE, SPACE + "a", "a" + SPACE + "b", SPACE * 3, "\u3000", "全角　空格", "\u00a0", "\u200b", "e\u0301", "é", "ﬁ", "Ａ１",
    "👋", "😀👍", "👨\u200d👩\u200d👧\u200d👦", "🇨🇳", "𠮷野家", "مرحبا (hello) 123!", "שלום", "नमस्ते", "ไทย", "한국어", "日本語", "Ελληνικά", "Привет",
    "\x00", "a\x00b", "\x01\x02\x1b", "\x7f", "\ufeffBOM", "\ufffd", "\ud7ff", "\ue000", "\uffff", "\U0010ffff",
    "def add(a, b):\n    return a + b\n", "0123456789", "3.14159", "1,000,000", "……", "——", "\\n", "\"'`", "a\rb", "x" * 300, "你" * 200,
    "the " * 60, " \n \t ", "。。。", "aaaaabbbbbaaaaa", "repl\ufffdace",
]


def train():
    writer = io.BytesIO()
    sentences = [line for line in TRAINING_TEXT.split("\n") if line] * 3
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=writer, model_type="bpe", vocab_size=760, byte_fallback=True,
        normalization_rule_name="identity", add_dummy_prefix=True, remove_extra_whitespaces=False, character_coverage=1.0,
        unk_id=0, bos_id=1, eos_id=2, pad_id=-1, num_threads=1, minloglevel=2)
    return writer.getvalue()


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def read_pieces(model):
    pieces = []
    for number, value in fields(model):
        if number != 1:
            continue
        piece = {1: b"", 2: struct.pack("<f", 0.0), 3: 1}
        piece.update(dict(fields(value)))
        pieces.append((piece[1].decode(), struct.unpack("<f", piece[2])[0], piece[3]))
    return pieces


class Reference:
    NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6

    def __init__(self, model):
        self.pieces = read_pieces(model)
        self.scores = {text: (score, i) for i, (text, score, kind) in enumerate(self.pieces) if kind == self.NORMAL}
        self.byte_ids = {int(text[3:5], 16): i for i, (text, _, kind) in enumerate(self.pieces) if kind == self.BYTE}

    def encode(self, text):
        if not text:
            return []
        symbols = list((SPACE + text).replace(" ", SPACE))
        while True:
            best = None
            for i in range(len(symbols) - 1):
                found = self.scores.get(symbols[i] + symbols[i + 1])
                if found and (best is None or found[0] > best[0]):
                    best = (found[0], i)
            if best is None:
                break
            i = best[1]
            symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]
        ids = []
        for symbol in symbols:
            if symbol in self.scores:
                ids.append(self.scores[symbol][1])
            else:
                ids += [self.byte_ids[byte] for byte in symbol.encode()]
        return ids

    def decode(self, ids):
        text, run, at_start = "", b"", True
        for id in list(ids) + [None]:
            kind = self.pieces[id][2] if id is not None and 0 <= id < len(self.pieces) else None
            if kind == self.BYTE:
                run += bytes([int(self.pieces[id][0][3:5], 16)])
                continue
            if run:
                text, run, at_start = text + self.decode_run(run), b"", False
            if kind == self.NORMAL:
                piece = self.pieces[id][0]
                if at_start and piece.startswith(SPACE):
                    piece = piece[1:]
                text, at_start = text + piece.replace(SPACE, " "), False
        return text

    @staticmethod
    def decode_run(run):
        text = ""
        while run:
            for size in (1, 2, 3, 4):
                try:
                    character = run[:size].decode("utf-8")
                except UnicodeDecodeError:
                    continue
                if len(character) == 1 and len(run) >= size:
                    text, run = text + character, run[size:]
                    break
            else:
                text, run = text + REPLACEMENT, run[1:]
        return text


def decode_lists(reference, rng):
    size = len(reference.pieces)
    lists = [[], [0], [1], [2], [size], [size + 1], [size + 5], [-1], [1 << 30], [3 + 0xE4], [3 + 0xE4, 3 + 0xBD], [3 + 0xE4, 3 + 0xBD, 3 + 0xA0],
             [3 + 0xE4, 0, 3 + 0xBD, 3 + 0xA0], [3 + 0xFF, 3 + 0xFE], [3 + 0xED, 3 + 0xA0, 3 + 0x80], [3 + 0xC0, 3 + 0x80], [3 + 0xF4, 3 + 0x90, 3 + 0x80, 3 + 0x80],
             [3 + 0x41, 3 + 0xF0, 3 + 0x9F, 3 + 0x91], [3 + 0xF0, 3 + 0x9F, 3 + 0x91, 3 + 0x8B, 3 + 0x41]]
    for _ in range(60):
        lists.append([rng.randrange(-2, size + 8) for _ in range(rng.randrange(1, 12))])
    for _ in range(60):
        lists.append([rng.randrange(3, 259) for _ in range(rng.randrange(1, 12))])
    return lists


def main():
    model = train()
    (FOLDER / "tokenizer.model").write_bytes(model)
    reference = Reference(model)
    cases = {
        "num_pieces": len(reference.pieces),
        "encode": [{"text": text, "ids": reference.encode(text), "decoded": reference.decode(reference.encode(text))} for text in TEXTS],
        "decode": [{"ids": ids, "text": reference.decode(ids)} for ids in decode_lists(reference, random.Random(7))],
    }
    (FOLDER / "cases.json").write_text(json.dumps(cases, ensure_ascii=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
