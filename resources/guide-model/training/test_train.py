"""Checks of the trainer: python -m unittest test_train (needs ../tokenizer.model; about a quarter of a minute)."""
import argparse
import random
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

import train
from engine import Engine
from model import CONFIG, CausalAttention, GuideModel, TokenLoss, chunk_loss

TOKENIZER = train.HERE.parent / "tokenizer.model"
TINY = dict(CONFIG, hidden_size=64, num_layers=2, ffn_hidden_size=96, num_attention_heads=4, kv_channels=16)
ROUNDS = [("你好", "你好！"), ("What is 2 + 3?", "2 + 3 = 5."), ("My name is Zoltan.", "Nice to meet you, Zoltan!")]


def trainer(seed=3):
    o = argparse.Namespace(seed=seed, compile=False, tokenizer=TOKENIZER, segments=2, reuse=1, drill=0.2, practice=(2, 4),
                           rate=2e-3, steps=10, minutes=0.0, warmup=2)
    return train.Trainer(o, TINY)


def weights(model):
    """The model with larger, uneven weights and biases, so that mistakes in any of them show."""
    torch.manual_seed(5)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.1 * torch.randn_like(p))
    return model


class Encoding(unittest.TestCase):
    def setUp(self):
        self.encoder = train.Encoder(TOKENIZER)

    def split(self, seed):
        ids, marks = self.encoder.dialogue(ROUNDS, random.Random(seed))
        return (*train.shift(ids, marks), self.encoder.sp)

    def test_answers_and_their_ends_are_marked(self):
        for seed in range(40):
            inputs, targets, kinds, sp = self.split(seed)
            answers, current = [], []
            for target, answer in zip(targets, kinds):
                if answer and target == train.EOS:
                    answers.append(sp.decode(current))
                    current = []
                elif answer:
                    current.append(target)
                else:
                    self.assertNotEqual(target, train.EOS)
            self.assertEqual(current, [])
            self.assertIn(answers, ([a for _, a in ROUNDS], [ROUNDS[-1][1]]))

    def test_the_end_mark_is_never_an_input(self):
        for seed in range(40):
            self.assertNotIn(train.EOS, self.split(seed)[0])

    def test_text_is_the_prompt_of_the_engine(self):
        wanted = "".join(f"[Round {i}]\n\n问：{q}\n\n答：{a}\n\n" for i, (q, a) in enumerate(ROUNDS, 1)).rstrip()
        for seed in range(40):
            inputs, targets, _, sp = self.split(seed)
            ids = inputs[2:] + ([] if targets[-1] == train.EOS else [targets[-1]])
            self.assertEqual(sp.decode(ids), wanted)
            self.assertEqual(inputs[:2], self.encoder.prefix)


    def test_drills_repeat_ordinary_pieces(self):
        for seed in range(40):
            ids, marks = self.encoder.drill(random.Random(seed))
            answer = [i for i, m in zip(ids, marks) if m][:-1]
            self.assertEqual(ids[-1], train.EOS)
            self.assertTrue(all(260 <= i < self.encoder.sp.get_piece_size() for i in answer))
            prompt = " ".join(str(i) for i, m in zip(ids, marks) if not m)
            self.assertIn(" " + " ".join(map(str, answer)) + " ", prompt)


class Packing(unittest.TestCase):
    def test_rows_do_not_see_one_another(self):
        model = weights(GuideModel(TINY))
        ids = torch.randint(5, 400, (4 * 32 + 2 * 64,))
        segments = ((4, 32), (2, 64))
        with torch.no_grad():
            before = model.logits(ids, segments)
            changed = ids.clone()
            changed[32:64] = torch.randint(5, 400, (32,))
            changed[128:192] = torch.randint(5, 400, (64,))
            after = model.logits(changed, segments)
        same = torch.ones(len(ids), dtype=torch.bool)
        same[32:64] = same[128:192] = False
        self.assertTrue(torch.equal(before[same], after[same]))
        self.assertFalse(torch.equal(before[~same], after[~same]))

    def test_later_tokens_are_not_seen(self):
        model = weights(GuideModel(TINY))
        ids = torch.randint(5, 400, (64,))
        changed = ids.clone()
        changed[40:] = 7
        with torch.no_grad():
            self.assertTrue(torch.equal(model.logits(ids, ((1, 64),))[:40], model.logits(changed, ((1, 64),))[:40]))

    def test_only_marked_targets_count_in_full(self):
        batches = train.Batches(TOKENIZER, 1, segments=2, part=0.0)
        ids, segments, places, targets, weight = batches.next()
        self.assertEqual(sum(rows * length for rows, length in segments), len(ids))
        real = weight > 0
        self.assertAlmostEqual(weight.sum().item(), 1.0, places=4)
        follows = ids[(places[real] + 1).clamp(max=len(ids) - 1)]
        ends = targets[real] == train.EOS
        self.assertTrue(torch.equal(follows[~ends], targets[real][~ends]))
        self.assertEqual(len(places) % TokenLoss.CHUNK, 0)
        with_questions = train.Batches(TOKENIZER, 1, segments=2, part=1.0).next()[4]
        self.assertEqual(int((with_questions == with_questions.max()).sum()), int(real.sum()))
        self.assertGreater(int((with_questions > 0).sum()), int(real.sum()))


class Gradients(unittest.TestCase):
    def test_attention_is_that_of_torch(self):
        torch.manual_seed(1)
        q, k, v = (torch.randn(24, n, 8).bfloat16().requires_grad_() for n in (4, 2, 2))
        model = GuideModel(TINY)
        y = CausalAttention.apply(q, k, v, ((3, 8),), {8: model.bias(8)})
        r = [t.detach().float().requires_grad_() for t in (q, k, v)]
        rows = [t.view(3, 8, -1, 8).transpose(1, 2) for t in r]
        rows[1:] = [t.repeat_interleave(2, dim=1) for t in rows[1:]]
        z = torch.nn.functional.scaled_dot_product_attention(*rows, is_causal=True, scale=1.0)
        z = z.transpose(1, 2).reshape(24, 4, 8)
        torch.testing.assert_close(y.float(), z, atol=0.05, rtol=0.05)
        grad = torch.randn(24, 4, 8)
        y.backward(grad.bfloat16())
        z.backward(grad)
        for mine, wanted in zip((q, k, v), r):
            torch.testing.assert_close(mine.grad.float(), wanted.grad, atol=0.1, rtol=0.1)

    def test_loss_is_that_of_torch(self):
        torch.manual_seed(1)
        h, w = torch.randn(256, 32).bfloat16().requires_grad_(), torch.randn(300, 32).requires_grad_()
        target, weight = torch.randint(0, 300, (256,)), torch.rand(256) / 100
        loss, each = TokenLoss.apply(h, w, target, weight, 0.0, chunk_loss)
        loss.backward()
        h2, w2 = h.detach().float().requires_grad_(), w.detach().bfloat16().float().requires_grad_()
        wanted = torch.nn.functional.cross_entropy(h2 @ w2.T, target, reduction="none")
        (wanted * weight).sum().backward()
        torch.testing.assert_close(each, wanted.detach(), atol=0.1, rtol=0.02)
        torch.testing.assert_close(h.grad.float(), h2.grad, atol=1e-3, rtol=0.05)
        torch.testing.assert_close(w.grad, w2.grad, atol=1e-3, rtol=0.05)

    def test_orthogonal_steps(self):
        torch.manual_seed(1)
        values = torch.linalg.svdvals(train.orthogonal(torch.randn(2, 48, 96)).float())
        self.assertTrue(((values > 0.6) & (values < 1.4)).all())


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def test_resumed_run_is_the_same_run(self):
        a = trainer()
        for _ in range(3):
            a.step()
        train.save_checkpoint(a, self.folder / "checkpoint.pt")
        wanted = [a.step() for _ in range(3)]
        b = trainer(seed=3)
        b.restore(torch.load(self.folder / "checkpoint.pt", weights_only=False))
        self.assertEqual([b.step() for _ in range(3)], wanted)
        self.assertEqual(a.mean.keys(), b.mean.keys())
        self.assertTrue(all(torch.equal(a.mean[k], b.mean[k]) for k in a.mean))

    def test_saved_folder_gives_the_same_logits_elsewhere(self):
        model = weights(GuideModel(TINY))
        train.save_folder(model.state_dict(), TINY, self.folder)
        shutil.copy(TOKENIZER, self.folder / "tokenizer.model")
        ids = [5, 90, 300, 7, 41, 200, 12, 33] * 4
        with torch.no_grad():
            mine = model.logits(torch.tensor(ids), ((1, 32),))[-1].numpy()
        other = Engine(self.folder).feed(ids)
        self.assertLess(np.abs(mine - other).max(), 0.03 * np.abs(other).max())


if __name__ == "__main__":
    unittest.main()
