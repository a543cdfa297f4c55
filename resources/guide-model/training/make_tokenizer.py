"""Trains tokenizer.model (SentencePiece BPE) on the generator's dialogues and on all texts in data/.

python make_tokenizer.py [FILE] [--pieces N]     the same texts give the same file

Chinese runs are cut into chunks of one to four characters at random before they are counted, and at punctuation and Latin letters:
pieces become characters and common short words, never whole sentences of our small text.
"""
import argparse
import io
import random
import re
from pathlib import Path

import sentencepiece as spm

from generate import Generator, all_texts

PIECES = 5000
HAN = re.compile(r"[\u4e00-\u9fff]+")


def chunks(text, rng):
    """Lines for the trainer: Chinese chunks and the rest of each line of a text, each as in the middle of a prompt."""
    for part in text.split("\n"):
        for run in HAN.findall(part):
            i = 0
            while i < len(run):
                n = rng.choices((1, 2, 3, 4), (2, 5, 2, 1))[0]
                yield "：" + run[i:i + n]
                i += n
        rest = HAN.sub("，", part).strip()
        if rest:
            yield "：" + rest if rng.random() < 0.5 else rest


def lines(seed=11, dialogues=20000):
    """Questions weigh more than answers, which repeat; each text of the folder counts three times on top."""
    generator, rng = Generator(seed), random.Random(seed)
    for _ in range(dialogues):
        for q, a in generator.dialogue():
            yield from chunks(q, rng)
            if rng.random() < 0.3:
                yield from chunks(a, rng)
        # The marks of a round are in every prompt: white space between them joins into few pieces.
        yield "[Round 1]\n\n问：\n\n答："
        yield "：\n\n[Round 2]\n\n问：\n\n答："
    texts = sorted(all_texts())
    for _ in range(3):
        for text in texts:
            yield from chunks(text, rng)
        for c in map(chr, range(33, 127)):
            yield c


def train(pieces, sentences):
    """The bytes of a tokenizer.model with byte fallback, digits one by one and white space kept as it is."""
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=sentences, model_writer=model, model_type="bpe", vocab_size=pieces, normalization_rule_name="identity",
        add_dummy_prefix=True, remove_extra_whitespaces=False, byte_fallback=True, character_coverage=0.9999, split_digits=True,
        unk_id=0, bos_id=1, eos_id=2, pad_id=-1, max_sentencepiece_length=12, num_threads=1, minloglevel=1)
    return model.getvalue()


def report(sp, count=2000):
    """Prints tokens per character of dialogues the tokenizer has not seen, by language."""
    generator, used = Generator(10 ** 7), {"zh": [0, 0], "en": [0, 0]}
    for _ in range(count):
        for q, a in generator.dialogue():
            for text in (q, a):
                total = used["zh" if HAN.search(text) else "en"]
                total[0] += len(sp.encode(text))
                total[1] += len(text)
    print(f"pieces {sp.get_piece_size()}", *(f"{k}: {t / n:.3f} tokens per character" for k, (t, n) in used.items()))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("file", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent / "tokenizer.model")
    p.add_argument("--pieces", type=int, default=PIECES)
    p.add_argument("--dialogues", type=int, default=20000)
    a = p.parse_args()
    data = train(a.pieces, lines(dialogues=a.dialogues))
    a.file.write_bytes(data)
    sp = spm.SentencePieceProcessor(model_proto=data)
    report(sp)
    for text in ("[Round 1]\n\n问：你好，什么是语言模型？\n\n答：", "What is the capital of France?", "我叫小明，今年25岁",
                 "    for i in range(10):\n\tprint(i)", "| a | b |\n| --- | --- |"):
        if sp.decode(sp.encode(text)) != text:
            raise SystemExit(f"not kept as it is: {text!r}")
        print([sp.id_to_piece(i) for i in sp.encode(text)])
    if sp.id_to_piece(sp.encode("\n\n[Round 2]")[0]) != "▁":
        raise SystemExit("the head of a later round must begin with the dummy prefix alone, which is left out there")


if __name__ == "__main__":
    main()
