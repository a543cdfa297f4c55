"""Trains the guide model and writes config.json and model.safetensors.

python train.py --work DIR --out DIR --seed 1 --minutes 75      goes on from DIR/checkpoint.pt when there is one
python train.py --work DIR --out DIR --export                    writes the folder from the last checkpoint, without training
"""
import argparse
import csv
import ctypes
import json
import random
import time
from pathlib import Path

import sentencepiece as spm
import torch
from safetensors.torch import save_file

from generate import Generator
from model import BF16, CONFIG, GuideModel, TokenLoss, official_state

EOS = 2
HERE = Path(__file__).resolve().parent
SEGMENT = 1152  # tokens; a multiple of each length below
LENGTHS = (32, 48, 64, 96, 128, 144, 192, 288, 384, 576, 1152)
SHARD = 3000  # dialogues generated at a time
PRACTICE = 0.7  # part of the dialogues replaced by drills during the steps of practice
SAY_AGAIN = ("重复：", "请重复：", "跟我念：", "Repeat: ", "Say ", "repeat after me: ")


def keep_memory():
    """Lets glibc reuse freed memory instead of giving it back: large tensors would be paged in anew in every step."""
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return
    m_trim_threshold, m_mmap_max = -1, -4
    libc.mallopt(m_mmap_max, 0)
    libc.mallopt(m_trim_threshold, 2 ** 31 - 1)


class Encoder:
    """Dialogues to ids and loss marks, by the prompt rules of ChatGLM2."""

    def __init__(self, tokenizer):
        self.sp = spm.SentencePieceProcessor(model_file=str(tokenizer))
        n = self.sp.get_piece_size()
        self.prefix = [n + 1, n + 3]  # [gMASK] sop
        self.guard = self.sp.encode("\x01")[-1]  # a byte piece, which joins with nothing

    def inner(self, text):
        """Ids of a text in the middle of another: no dummy prefix in front."""
        ids = self.sp.encode("\x01" + text)
        return ids[ids.index(self.guard) + 1:]

    def question(self, text, first, rng):
        """Ids of a round's head; rng, when given, cuts the text at random places: words come in other pieces too."""
        if rng is None:
            return self.sp.encode(text) if first else self.inner(text)
        ids, at = [], 0
        while at < len(text):
            n = rng.randrange(3, 12)
            part = text[at:at + n]
            ids += self.sp.encode(part) if first and at == 0 else self.inner(part)
            at += n
        return ids

    def dialogue(self, rounds, rng):
        """(ids, marks): marks tell answers (True) from questions.

        A negative id is the end mark of an answer that is not the last: a target, but not part of the history.
        """
        cut = rng if rng.random() < 0.15 else None
        if len(rounds) > 1 and rng.random() < 0.25:  # the whole prompt as one string, as after a restart
            past = "".join(f"[Round {i}]\n\n问：{q}\n\n答：{a}\n\n" for i, (q, a) in enumerate(rounds[:-1], 1))
            head = f"[Round {len(rounds)}]\n\n问：{rounds[-1][0]}\n\n答："
            prompt = self.prefix + self.question(past + head, True, cut)
            answer = self.inner(rounds[-1][1]) + [EOS]
            return prompt + answer, [False] * len(prompt) + [True] * len(answer)
        ids, marks = list(self.prefix), [False] * len(self.prefix)
        for i, (q, a) in enumerate(rounds, 1):
            head = f"[Round {i}]\n\n问：{q}\n\n答："
            piece = self.question(head if i == 1 else "\n\n" + head, i == 1, cut)
            answer = self.inner(a)
            ids += piece + answer + [-EOS]
            marks += [False] * len(piece) + [True] * (len(answer) + 1)
        return ids, marks


    def drill(self, rng):
        """As `dialogue`: pieces drawn at random to be said again. The shortest way to learn to copy, names above all."""
        text = [rng.randrange(260, self.prefix[0] - 1) for _ in range(rng.choice((1, 2, 3, 4, 6, 8, 12, 16, 24)))]
        head = self.sp.encode(f"[Round 1]\n\n问：{rng.choice(SAY_AGAIN)}")
        prompt = self.prefix + head + text + self.inner("\n\n答：")
        answer = text + [EOS]
        return prompt + answer, [False] * len(prompt) + [True] * len(answer)


def shift(ids, marks):
    """Inputs, targets and target marks of the same length. A negative id is a target only: it is no input."""
    inputs, targets, kinds = [], [], []
    for i in range(len(ids) - 1):
        if ids[i] < 0:
            continue
        inputs.append(ids[i])
        targets.append(abs(ids[i + 1]))
        kinds.append(marks[i + 1])
    return inputs, targets, kinds


class Batches:
    """Batches of `segments` segments of SEGMENT tokens: rows of one length, one dialogue a row, filled up with zeros."""

    def __init__(self, tokenizer, seed, segments=4, reuse=1, drill=0.0, part=0.2, weight=0.5):
        """Each dialogue is used `reuse` times, and a drill comes in its place with a chance of `drill`.

        A part of the question's tokens counts, with a weight below the answer's 1.
        """
        self.encoder, self.seed, self.segments, self.reuse = Encoder(tokenizer), seed, segments, reuse
        self.drill, self.part, self.weight = drill, part, weight
        self.rng = random.Random(seed)
        self.shard, self.at, self.shelf = 0, 0, []
        self.waiting = {n: [] for n in LENGTHS}
        self.ready, self.dialogues = [], 0

    def state(self):
        return {"shard": self.shard, "at": self.at, "waiting": self.waiting, "ready": self.ready,
                "dialogues": self.dialogues, "rng": self.rng.getstate()}

    def restore(self, state):
        self.waiting, self.ready, self.dialogues = state["waiting"], state["ready"], state["dialogues"]
        if state["shard"]:
            self.shard = state["shard"] - 1
            self.load()
        self.at = state["at"]
        self.rng.setstate(state["rng"])

    def load(self):
        """The next shard of dialogues, the same for the same seed and number."""
        seed = self.seed * 1000003 + self.shard
        generator, rng = Generator(seed), random.Random(seed)
        fresh = [shift(*self.encoder.dialogue(generator.dialogue(), rng)) for _ in range(SHARD)]
        self.shelf = [x for _ in range(self.reuse) for x in rng.sample(fresh, len(fresh))]
        self.shard, self.at = self.shard + 1, 0

    def take(self):
        """Puts one dialogue in its row; longer ones than a segment are left out."""
        if self.rng.random() < self.drill:
            one = shift(*self.encoder.drill(self.rng))
        else:
            if self.at == len(self.shelf):
                self.load()
            one = self.shelf[self.at]
            self.at += 1
        self.dialogues += 1
        length = next((n for n in LENGTHS if n >= len(one[0])), None)
        if length is None:
            return
        rows = self.waiting[length]
        rows.append(one)
        if len(rows) == SEGMENT // length:
            self.ready.append((length, rows))
            self.waiting[length] = []

    def next(self):
        """ids [tokens], segments, places, targets and weights of the loss; weights sum to 1 over the answers."""
        while len(self.ready) < self.segments:
            self.take()
        chosen, self.ready = self.ready[:self.segments], self.ready[self.segments:]
        ids, places, targets, weights = [], [], [], []
        for length, rows in chosen:
            for inputs, target, kinds in rows:
                begin = len(ids)
                ids += inputs + [0] * (length - len(inputs))
                for i, answer in enumerate(kinds):
                    if answer or self.rng.random() < self.part:
                        places.append(begin + i)
                        targets.append(target[i])
                        weights.append(1.0 if answer else self.weight)
        spare = -len(places) % TokenLoss.CHUNK
        weights = torch.tensor(weights + [0.0] * spare)
        return (torch.tensor(ids), tuple((SEGMENT // n, n) for n, _ in chosen), torch.tensor(places + [0] * spare),
                torch.tensor(targets + [0] * spare), weights / (weights == 1).sum())


def orthogonal(m):
    """Newton-Schulz: the nearest matrices with all singular values near 1. m [n, rows, columns] -> same, bfloat16."""
    x = m.to(BF16)
    x = x / (x.float().norm(dim=(1, 2), keepdim=True) + 1e-7).to(BF16)
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    for _ in range(5):
        a = torch.bmm(x, x.transpose(1, 2))
        x = 3.4445 * x + torch.bmm(torch.baddbmm(a, a, a, beta=-4.7750, alpha=2.0315), x)
    return x.transpose(1, 2) if tall else x


class Muon:
    """Momentum with orthogonal steps for the blocks' matrices. Matrices of one kind go through the iteration together."""

    def __init__(self, model, decay=0.05, momentum=0.95):
        c = model.config
        d = c["kv_channels"]
        key = c["multi_query_group_num"] * d
        parts = {"query_key_value": (c["num_attention_heads"] * d, key, key),
                 "dense_h_to_4h": (c["ffn_hidden_size"], c["ffn_hidden_size"])}
        groups = {}
        for name, p in model.named_parameters():
            if p.dim() == 2 and ".layers." in name:
                sizes = parts.get(name.split(".")[-2], (p.shape[0],))
                groups.setdefault((name.split(".")[-2], sizes), []).append(p)
        self.groups = [(sizes, members) for (_, sizes), members in groups.items()]
        self.parameters = [p for _, members in self.groups for p in members]
        self.momenta = [torch.zeros(len(members), *members[0].shape) for _, members in self.groups]
        self.decay, self.momentum = decay, momentum

    @torch.no_grad()
    def step(self, rate):
        for (sizes, members), mean in zip(self.groups, self.momenta):
            grad = torch.stack([p.grad for p in members])
            mean.lerp_(grad, 1 - self.momentum)
            wanted = grad.lerp_(mean, self.momentum)
            updates = [orthogonal(part) * (0.2 * max(part.shape[1:]) ** 0.5) for part in wanted.split(sizes, dim=1)]
            update = torch.cat(updates, dim=1).float()
            for i, p in enumerate(members):
                p.mul_(1 - rate * self.decay).sub_(update[i], alpha=rate)


def rate_part(step, done, warmup, flat=0.3, floor=0.02):
    """The rate as a part of the highest: warm-up by steps, then flat, then a line down to the floor as `done` goes to 1."""
    down = min(1.0, (1 - done) / (1 - flat))
    return min(1.0, (step + 1) / warmup) * max(floor, down)


class Trainer:
    def __init__(self, options, config=CONFIG):
        o = self.options = options
        torch.manual_seed(o.seed)
        self.model = GuideModel(config, compiled=o.compile)
        self.muon = Muon(self.model)
        mine = {id(p) for p in self.muon.parameters}
        rest = [p for p in self.model.parameters() if id(p) not in mine]
        self.adam = torch.optim.AdamW(rest, lr=o.rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
        self.batches = Batches(o.tokenizer, o.seed, o.segments, o.reuse)
        self.mean = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
        self.step_, self.seen, self.answers, self.elapsed = 0, 0, 0, 0.0

    def state(self):
        return {"model": self.model.state_dict(), "mean": self.mean, "adam": self.adam.state_dict(),
                "momenta": self.muon.momenta, "batches": self.batches.state(), "step": self.step_, "seen": self.seen,
                "answers": self.answers, "elapsed": self.elapsed}

    def restore(self, state):
        self.model.load_state_dict(state["model"])
        self.adam.load_state_dict(state["adam"])
        self.mean, self.muon.momenta = state["mean"], state["momenta"]
        self.batches.restore(state["batches"])
        self.step_, self.seen, self.answers, self.elapsed = (state[k] for k in ("step", "seen", "answers", "elapsed"))

    def done(self):
        o = self.options
        return max(self.step_ / o.steps if o.steps else 0.0, self.elapsed / (60 * o.minutes) if o.minutes else 0.0)

    def step(self):
        """One step; the mean cross-entropy of the answers' tokens."""
        begun = time.time()
        rate = self.options.rate * rate_part(self.step_, min(1.0, self.done()), self.options.warmup)
        first, last = self.options.practice
        self.batches.drill = PRACTICE if first <= self.step_ < last else self.options.drill
        ids, segments, places, targets, weights = self.batches.next()
        loss, each = self.model.loss(ids, segments, places, targets, weights)
        self.adam.zero_grad(set_to_none=True)
        for p in self.muon.parameters:
            p.grad = None
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.adam.param_groups[0]["params"], 1.0)
        self.adam.param_groups[0]["lr"] = rate
        self.adam.step()
        self.muon.step(rate)
        if self.step_ % 5 == 0:
            # The mean reaches back about a twentieth of the steps so far, 500 at most.
            keep = 1 - 1 / min(100, 1 + self.step_ / 100)
            with torch.no_grad():
                torch._foreach_lerp_(list(self.mean.values()), list(self.model.state_dict().values()), 1 - keep)
        answers = weights == weights.max()
        self.step_ += 1
        self.seen += len(ids)
        self.answers += int(answers.sum())
        self.elapsed += time.time() - begun
        return each[answers].mean().item()


def save_folder(state, config, out):
    """The folder as glmchat reads it: fp16 safetensors and config.json."""
    out.mkdir(parents=True, exist_ok=True)
    tensors = {k: v.to(torch.float16).contiguous() for k, v in official_state(state, config).items()}
    save_file(tensors, str(out / "model.safetensors"), metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def save_checkpoint(trainer, path):
    temporary = path.with_suffix(".new")
    torch.save(trainer.state(), temporary)
    temporary.replace(path)


def run(trainer, checkpoint, log):
    """Trains to the end; a line of figures every 50 steps on the screen and in the CSV file `log`."""
    new = not log.exists()
    with log.open("a", newline="") as f:
        table = csv.writer(f)
        if new:
            table.writerow(("step", "tokens", "answer_tokens", "loss", "rate", "minutes"))
        mean, saved, before = None, trainer.elapsed, (trainer.seen, trainer.elapsed)
        while trainer.done() < 1.0:
            loss = trainer.step()
            mean = loss if mean is None else 0.95 * mean + 0.05 * loss
            if trainer.step_ % 50 == 0:
                rate = trainer.adam.param_groups[0]["lr"]
                speed = (trainer.seen - before[0]) / (trainer.elapsed - before[1])
                before = (trainer.seen, trainer.elapsed)
                table.writerow((trainer.step_, trainer.seen, trainer.answers, f"{mean:.4f}", f"{rate:.2e}",
                                f"{trainer.elapsed / 60:.2f}"))
                f.flush()
                print(f"step {trainer.step_} loss {mean:.4f} rate {rate:.2e} tokens {trainer.seen} dialogues "
                      f"{trainer.batches.dialogues} {speed:.0f} tokens/s {trainer.elapsed / 60:.1f} min", flush=True)
            if trainer.elapsed - saved > 240:
                save_checkpoint(trainer, checkpoint)
                saved = trainer.elapsed
    save_checkpoint(trainer, checkpoint)


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--work", type=Path, required=True, help="checkpoint and log")
    p.add_argument("--out", type=Path, required=True, help="the finished folder")
    p.add_argument("--tokenizer", type=Path, default=HERE.parent / "tokenizer.model")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=0, help="0: no limit by steps")
    p.add_argument("--minutes", type=float, default=0.0, help="0: no limit by the clock; the first limit ends it")
    p.add_argument("--segments", type=int, default=3, help=f"a batch is this many times {SEGMENT} tokens")
    p.add_argument("--reuse", type=int, default=1, help="times each dialogue is used")
    p.add_argument("--drill", type=float, default=0.1, help="part of the dialogues replaced by copying drills")
    p.add_argument("--practice", type=int, nargs=2, default=(400, 600), metavar=("FIRST", "LAST"),
                   help=f"steps in which that part is {PRACTICE}: copying comes at once instead of late")
    p.add_argument("--rate", type=float, default=6e-3)
    p.add_argument("--warmup", type=int, default=100)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True,
                   help="faster steps; needs a C++ compiler and the headers of Python")
    p.add_argument("--start", type=Path, help="begin a new schedule from another run's checkpoint")
    p.add_argument("--export", action="store_true", help="only write the folder from the last checkpoint")
    return p.parse_args()


def main():
    o = options()
    if not (o.export or o.steps or o.minutes):
        raise SystemExit("give --steps or --minutes")
    keep_memory()
    torch.set_num_threads(o.threads)
    o.work.mkdir(parents=True, exist_ok=True)
    checkpoint = o.work / "checkpoint.pt"
    if o.export:
        save_folder(torch.load(checkpoint, weights_only=False)["mean"], CONFIG, o.out)
        return
    trainer = Trainer(o)
    print("parameters", sum(p.numel() for p in trainer.model.parameters()), flush=True)
    if checkpoint.exists():
        trainer.restore(torch.load(checkpoint, weights_only=False))
        print("resumed at step", trainer.step_, flush=True)
    elif o.start:
        earlier = torch.load(o.start, weights_only=False)
        trainer.model.load_state_dict(earlier["mean"])
        trainer.mean = earlier["mean"]
    run(trainer, checkpoint, o.work / "log.csv")
    save_folder(trainer.mean, trainer.model.config, o.out)


if __name__ == "__main__":
    main()
