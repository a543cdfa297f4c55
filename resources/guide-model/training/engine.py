"""An independent reader of the finished folder: numpy, float32, from model.safetensors and tokenizer.model alone.

It shares nothing with model.py and train.py, so that it checks what was really saved. `python engine.py` is a small chat.
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np
import sentencepiece as spm

EOS = 2


def read_safetensors(path):
    data = path.read_bytes()
    (n,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + n])
    tensors = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        if info["dtype"] != "F16":
            raise ValueError(f"{name}: {info['dtype']}, expected F16")
        begin, end = info["data_offsets"]
        tensors[name] = np.frombuffer(data[8 + n + begin:8 + n + end], np.float16).reshape(info["shape"]).astype(np.float32)
    return tensors


class Engine:
    def __init__(self, folder):
        folder = Path(folder)
        self.config = c = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.w = read_safetensors(folder / "model.safetensors")
        self.sp = spm.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
        self.pieces = self.sp.get_piece_size()
        self.heads, self.groups, self.d = c["num_attention_heads"], c["multi_query_group_num"], c["kv_channels"]
        half = self.d // 2
        self.theta = (1.0 / 10000.0 ** (np.arange(0, half, 2, dtype=np.float32) / half)).astype(np.float32)
        self.reset()

    def reset(self):
        self.ids, self.keys, self.values = [], [], []
        for _ in range(self.config["num_layers"]):
            self.keys.append(np.zeros((0, self.groups, self.d), np.float32))
            self.values.append(np.zeros((0, self.groups, self.d), np.float32))

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["layernorm_epsilon"]) * self.w[name]

    def rotate(self, x, positions):
        angle = positions[:, None].astype(np.float32) * self.theta
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        half = self.d // 2
        out = x.copy()
        out[..., 0:half:2] = x[..., 0:half:2] * cos - x[..., 1:half:2] * sin
        out[..., 1:half:2] = x[..., 1:half:2] * cos + x[..., 0:half:2] * sin
        return out

    def feed(self, ids):
        """Appends ids to the cache and returns the logits after the last one."""
        past, n = len(self.ids), len(ids)
        self.ids += ids
        positions = np.arange(past, past + n)
        h, g, d = self.heads, self.groups, self.d
        x = self.w["transformer.embedding.word_embeddings.weight"][ids]
        blocked = np.arange(past + n)[None, :] > positions[:, None]
        for i in range(self.config["num_layers"]):
            p = f"transformer.encoder.layers.{i}."
            y = self.norm(x, p + "input_layernorm.weight")
            qkv = y @ self.w[p + "self_attention.query_key_value.weight"].T + self.w[p + "self_attention.query_key_value.bias"]
            q = self.rotate(qkv[:, :h * d].reshape(n, h, d), positions)
            k = self.rotate(qkv[:, h * d:(h + g) * d].reshape(n, g, d), positions)
            self.keys[i] = np.concatenate((self.keys[i], k))
            self.values[i] = np.concatenate((self.values[i], qkv[:, (h + g) * d:].reshape(n, g, d)))
            out = np.empty((n, h, d), np.float32)
            for head in range(h):
                group = head // (h // g)
                s = q[:, head] @ self.keys[i][:, group].T / np.sqrt(np.float32(d))
                s[blocked] = -np.inf
                s = np.exp(s - s.max(-1, keepdims=True))
                out[:, head] = s / s.sum(-1, keepdims=True) @ self.values[i][:, group]
            x = x + out.reshape(n, h * d) @ self.w[p + "self_attention.dense.weight"].T
            y = self.norm(x, p + "post_attention_layernorm.weight") @ self.w[p + "mlp.dense_h_to_4h.weight"].T
            gate, up = np.split(y, 2, axis=-1)
            x = x + (gate / (1 + np.exp(-gate)) * up) @ self.w[p + "mlp.dense_4h_to_h.weight"].T
        return self.norm(x[-1], "transformer.encoder.final_layernorm.weight") @ self.w["transformer.output_layer.weight"].T

    def generate(self, prompt, limit=256, temperature=0.0, top_p=0.8, rng=None):
        """The answer's ids and whether it ended by itself. As in glmchat, the eos is not fed."""
        logits = self.feed(prompt)
        answer = []
        while len(answer) < limit:
            if temperature <= 0:
                token = int(logits.argmax())
            else:
                p = np.exp((logits - logits.max()) / temperature)
                p /= p.sum()
                order = np.argsort(-p)
                keep = order[:int(np.searchsorted(np.cumsum(p[order]), top_p)) + 1]
                token = int(rng.choice(keep, p=p[keep] / p[keep].sum()))
            if token == EOS:
                return answer, True
            answer.append(token)
            logits = self.feed([token])
        return answer, False

    def text(self, ids):
        return self.sp.decode([i for i in ids if i < self.pieces])


class Chat:
    """A conversation on a kept cache (`whole=False`), or encoded anew as one string every round (`whole=True`)."""

    def __init__(self, engine, whole=False, temperature=0.0, top_p=0.8, seed=0):
        self.engine, self.whole = engine, whole
        self.options = {"temperature": temperature, "top_p": top_p, "rng": np.random.default_rng(seed)}
        self.rounds, self.stopped = [], True
        engine.reset()

    def ask(self, question):
        e, n = self.engine, len(self.rounds) + 1
        prefix = [e.pieces + 1, e.pieces + 3]
        head = f"[Round {n}]\n\n问：{question}\n\n答："
        if n == 1:
            prompt = prefix + e.sp.encode(head)
        elif self.whole:
            e.reset()
            past = "".join(f"[Round {i}]\n\n问：{q}\n\n答：{a}\n\n" for i, (q, a) in enumerate(self.rounds, 1))
            prompt = prefix + e.sp.encode(past + head)
        else:
            prompt = e.sp.encode("\n\n" + head)[1:]
        ids, ended = e.generate(prompt, **self.options)
        self.stopped = self.stopped and ended
        answer = e.text(ids).strip()
        self.rounds.append((question, answer))
        return answer

    def answer_to(self, rounds, question):
        """The answer to a question after given rounds [(question, answer), ...], all encoded as one string."""
        self.whole, self.rounds = True, list(rounds)
        return self.ask(question)


if __name__ == "__main__":
    chat = Chat(Engine(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent))
    for line in sys.stdin:
        print(chat.ask(line.rstrip("\n")), flush=True)
