"""Trains tokenizer.model (SentencePiece BPE) on our own dialogues.

Chinese runs are cut into chunks of one to three characters at random before they are counted, so that the pieces are
characters and common short words, never whole sentences of our small text.
"""
import io
import random
import re
import sys
from pathlib import Path

import sentencepiece as spm

from generate import ENGLISH_NAMES, GIVEN, NICK, SURNAMES, SYLLABLES, Generator

PIECES = 4000
HAN = re.compile(r"[\u4e00-\u9fff]+")


def lines(seed=11):
    g = Generator(seed)
    rng = random.Random(seed)

    def emit(text):
        for part in text.split("\n"):
            if not part:
                continue
            for run in HAN.findall(part):
                i = 0
                while i < len(run):
                    n = rng.choices((1, 2, 3), (2, 5, 3))[0]
                    yield "：" + run[i:i + n]
                    i += n
            rest = HAN.sub("，", part).strip()
            if rest:
                yield "：" + rest if rng.random() < 0.5 else rest

    for _ in range(25000):
        for q, a in g.dialogue():
            yield from emit(q)
            if rng.random() < 0.3:
                yield from emit(a)
    for _ in range(3):
        for topic in g.topics:
            for lang in ("zh", "en"):
                for key in "qtxdas":
                    for text in topic[lang][key]:
                        yield from emit(text)
        for values in g.outside.values():
            for text in values:
                yield from emit(text)
        for c in SURNAMES + GIVEN + NICK:
            yield "：" + c
        yield from (" ".join(ENGLISH_NAMES), " ".join(SYLLABLES), "[Round 1] 问：答：", "0 1 2 3 4 5 6 7 8 9")
        for c in map(chr, range(33, 127)):
            yield c


def main(out):
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=lines(), model_writer=model, model_type="bpe", vocab_size=PIECES, normalization_rule_name="identity",
        add_dummy_prefix=True, remove_extra_whitespaces=False, byte_fallback=True, character_coverage=0.99995, split_digits=True,
        unk_id=0, bos_id=1, eos_id=2, pad_id=-1, max_sentencepiece_length=14, num_threads=2, minloglevel=1)
    Path(out).write_bytes(model.getvalue())
    sp = spm.SentencePieceProcessor(model_proto=model.getvalue())
    print("pieces", sp.get_piece_size(), "bytes", len(model.getvalue()))
    for text in ("[Round 1]\n\n问：你好，什么是语言模型？\n\n答：", "What is the capital of France?", "我叫小明，今年25岁", "ChatGLM2-6B 怎么加载"):
        print([sp.id_to_piece(i) for i in sp.encode(text)])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "tokenizer.model")
