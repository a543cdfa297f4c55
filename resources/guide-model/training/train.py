"""Trains the guide model and writes config.json and model.safetensors.

python train.py --steps 2000 --out .. --work DIR        resumes from DIR/checkpoint.pt when there is one
python train.py --start DIR/checkpoint.pt ...            begins a new schedule from earlier weights
"""
import argparse
import json
import math
import random
import time
from pathlib import Path

import sentencepiece as spm
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from generate import Generator
from model import CONFIG, GuideModel, run_layer

EOS = 2
HERE = Path(__file__).resolve().parent


class Encoder:
    """Dialogues to ids and loss marks, by the prompt rules of ChatGLM2."""

    def __init__(self, tokenizer, seed):
        self.sp = spm.SentencePieceProcessor(model_file=str(tokenizer))
        n = self.sp.get_piece_size()
        self.prefix = [n + 1, n + 3]  # [gMASK] sop
        self.newline = self.sp.encode("\n")[-1]
        self.rng = random.Random(seed)

    def answer(self, text):
        """Ids of an answer in the middle of a text: no dummy prefix in front."""
        ids = self.sp.encode("\n" + text)
        return ids[ids.index(self.newline) + 1:]

    def question(self, text, loose):
        if loose:
            return self.sp.encode(text, enable_sampling=True, alpha=0.1, nbest_size=-1)
        return self.sp.encode(text)

    def dialogue(self, rounds):
        loose = self.rng.random() < 0.25  # BPE dropout: the same words in smaller pieces
        if len(rounds) > 1 and self.rng.random() < 0.25:
            text = ""
            for i, (q, a) in enumerate(rounds[:-1], 1):
                text += f"[Round {i}]\n\n问：{q}\n\n答：{a}\n\n"
            text += f"[Round {len(rounds)}]\n\n问：{rounds[-1][0]}\n\n答："
            prompt = self.prefix + self.question(text, loose)
            answer = self.answer(rounds[-1][1]) + [EOS]
            return prompt + answer, [False] * len(prompt) + [True] * len(answer)
        ids, marks = list(self.prefix), [False] * len(self.prefix)
        for i, (q, a) in enumerate(rounds, 1):
            head = f"[Round {i}]\n\n问：{q}\n\n答："
            piece = self.question(head, loose) if i == 1 else self.question("\n\n" + head, loose)[1:]
            answer = self.answer(a)
            ids += piece + answer
            marks += [False] * len(piece) + [True] * len(answer)
            # eos is predicted after the answer but is not part of the history: mark it, to be dropped when rows are built
            ids.append(-EOS)
            marks.append(True)
        return ids, marks


def shift(ids, marks):
    """Inputs and targets. A negative id is a target only: the next input follows the token before it."""
    inputs, targets = [], []
    for i in range(len(ids)):
        if ids[i] < 0:
            continue
        inputs.append(ids[i])
        nxt = ids[i + 1] if i + 1 < len(ids) else None
        targets.append(-100 if nxt is None or not marks[i + 1] else abs(nxt))
    return inputs, targets


class Batches:
    """Rows of `length` packed with whole dialogues that do not see one another; longer dialogues in batches of their own."""

    def __init__(self, tokenizer, seed, length, tokens, keep_long=1.0):
        self.keep_long = keep_long
        self.generator = Generator(seed)
        self.encoder = Encoder(tokenizer, seed + 1)
        self.length, self.tokens = length, tokens
        self.long, self.examples = [], 0

    def next_dialogue(self):
        self.examples += 1
        return shift(*self.encoder.dialogue(self.generator.dialogue()))

    def next(self):
        rows, space = [], []
        want = self.tokens // self.length
        while True:
            if self.long and sum(len(x) for x, _ in self.long) >= self.tokens:
                return self.long_batch()
            x, y = self.next_dialogue()
            if len(x) > self.length:
                if len(x) <= CONFIG["seq_length"] and self.generator.rng.random() < self.keep_long:
                    self.long.append((x, y))
                continue
            for r in range(len(rows)):
                if space[r] >= len(x):
                    rows[r].append((x, y))
                    space[r] -= len(x)
                    break
            else:
                if len(rows) == want:
                    return self.packed(rows)
                rows.append([(x, y)])
                space.append(self.length - len(x))

    def packed(self, rows):
        b, n = len(rows), self.length
        ids = torch.zeros(b, n, dtype=torch.long)
        target = torch.full((b, n), -100)
        pos = torch.zeros(b, n, dtype=torch.long)
        doc = torch.full((b, n), -1)
        for r, row in enumerate(rows):
            at = 0
            for d, (x, y) in enumerate(row):
                m = len(x)
                ids[r, at:at + m] = torch.tensor(x)
                target[r, at:at + m] = torch.tensor(y)
                pos[r, at:at + m] = torch.arange(m)
                doc[r, at:at + m] = d
                at += m
        same = (doc.unsqueeze(2) == doc.unsqueeze(1)) & torch.ones(n, n, dtype=torch.bool).tril()
        same |= torch.eye(n, dtype=torch.bool)
        return ids, pos, blocked(same[:, None, None]), target

    def long_batch(self):
        rows, self.long = self.long, []
        n = max(len(x) for x, _ in rows)
        ids = torch.zeros(len(rows), n, dtype=torch.long)
        target = torch.full((len(rows), n), -100)
        for r, (x, y) in enumerate(rows):
            ids[r, :len(x)] = torch.tensor(x)
            target[r, :len(y)] = torch.tensor(y)
        return ids, torch.arange(n).expand(len(rows), n), blocked(torch.ones(1, 1, 1, n, n, dtype=torch.bool).tril()), target


def blocked(open_):
    return torch.zeros(open_.shape).masked_fill(~open_, -1e4)


def save(model, out):
    """The folder as glmchat reads it: fp16 safetensors and config.json."""
    out.mkdir(parents=True, exist_ok=True)
    tensors = {k: v.detach().to(torch.float16).contiguous() for k, v in model.state_dict().items()}
    save_file(tensors, str(out / "model.safetensors"), metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps(model.config, indent=2) + "\n", encoding="utf-8")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--tokens", type=int, default=4096, help="tokens of a batch")
    p.add_argument("--length", type=int, default=256, help="tokens of a packed row")
    p.add_argument("--keep-long", type=float, default=1.0, help="part of the dialogues longer than a row that are used")
    p.add_argument("--minutes", type=float, help="end by the clock too, if --steps takes longer")
    p.add_argument("--rate", type=float, default=2e-3)
    p.add_argument("--floor", type=float, default=0.03, help="last rate as a part of the highest")
    p.add_argument("--warmup", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--out", type=Path, default=HERE.parent)
    p.add_argument("--work", type=Path, required=True)
    p.add_argument("--start", type=Path)
    p.add_argument("--compile", action="store_true", help="faster steps; needs a C++ compiler and Python headers")
    p.add_argument("--save-every", type=int, default=200)
    a = p.parse_args()
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    a.work.mkdir(parents=True, exist_ok=True)
    checkpoint = a.work / "checkpoint.pt"

    model = GuideModel()
    decay = [q for q in model.parameters() if q.dim() == 2]
    plain = [q for q in model.parameters() if q.dim() != 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}],
                                  lr=a.rate, betas=(0.9, 0.95), fused=True)
    step, seen, trained = 0, 0, 0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step, seen, trained = state["step"], state["seen"], state["trained"]
        print("resumed at step", step, flush=True)
    elif a.start:
        state = torch.load(a.start, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    # After a resume the text goes on with a new seed instead of the same dialogues again.
    batches = Batches(HERE.parent / "tokenizer.model", a.seed * 1000003 + step, a.length, a.tokens, a.keep_long)
    print("parameters", sum(q.numel() for q in model.parameters()))
    fast = torch.compile(run_layer, dynamic=False) if a.compile else run_layer
    begun, mean, since = time.time(), None, 0
    model.train()
    done = 0.0
    while step < a.steps and done < 1.0:
        warm = min(1.0, (step + 1) / a.warmup)
        done = max(step / a.steps, (time.time() - begun) / (60 * a.minutes) if a.minutes else 0.0)
        cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
        for group in optimizer.param_groups:
            group["lr"] = a.rate * warm * (a.floor + (1 - a.floor) * cosine)
        ids, pos, mask, target = batches.next()
        pick = target != -100
        with torch.autocast("cpu", torch.bfloat16):
            model.step = fast if ids.shape[1] == a.length else run_layer  # compiled for one shape only
            logits = model.transformer["output_layer"](model.hidden(ids, pos, mask)[pick])
        loss = F.cross_entropy(logits.float(), target[pick])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        seen += ids.numel()
        since += ids.numel()
        trained += int(pick.sum())
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if step % 25 == 0:
            print(f"step {step} loss {mean:.4f} rate {optimizer.param_groups[0]['lr']:.2e} tokens {seen} answer tokens {trained} "
                  f"dialogues {batches.examples} {since / (time.time() - begun):.0f} tokens/s", flush=True)
        if step % a.save_every == 0 or step == a.steps or done >= 1.0:
            temporary = checkpoint.with_suffix(".new")
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "seen": seen,
                        "trained": trained}, temporary)
            temporary.replace(checkpoint)
    save(model, a.out)


if __name__ == "__main__":
    main()
