#!/usr/bin/env python3
"""Makes tests/golden/models: tiny ChatGLM2 models with random weights, and what they compute.

Usage: make_golden_models.py [OUTPUT_DIR]      (default: models/ beside this file; numpy is all it needs)

The forward pass below is written from the published description in plain numpy, in float64 with rotary angles in
float32, without a KV cache: it shares no code and no structure with the engine. Equal seeds give equal files.

Each case is a folder with case.json (prompts, greedy tokens and their top-1 minus top-2 margins), expected/*.npy
(float32) and one folder per checkpoint in the official layout.
"""
import json
import os
import shutil
import sys

import numpy as np

import torch_files

HERE = os.path.dirname(os.path.abspath(__file__))

CONFIG = {
    "_name_or_path": "THUDM/chatglm2-6b", "model_type": "chatglm", "architectures": ["ChatGLMModel"],
    "add_bias_linear": False, "add_qkv_bias": True, "apply_query_key_layer_scaling": True,
    "apply_residual_connection_post_layernorm": False, "attention_softmax_in_fp32": True,
    "ffn_hidden_size": 48, "fp32_residual_connection": False, "hidden_size": 32, "kv_channels": 8,
    "layernorm_epsilon": 1e-05, "multi_query_attention": True, "multi_query_group_num": 2,
    "num_attention_heads": 4, "num_layers": 2, "original_rope": True, "padded_vocab_size": 128,
    "post_layer_norm": True, "rmsnorm": True, "seq_length": 256, "torch_dtype": "float16",
    "tie_word_embeddings": False, "eos_token_id": 2, "pad_token_id": 0,
}
PROMPT_LENGTHS = (5, 9, 17)
NUM_GREEDY = 24


# --- weights ---------------------------------------------------------------------------------------------------------

def random_weights(config, rng):
    """Float64 weights of a ChatGLM2 model; magnitudes keep activations near one and spread the logits."""
    hidden, ffn = config["hidden_size"], config["ffn_hidden_size"]
    heads, groups, head = config["num_attention_heads"], config["multi_query_group_num"], config["kv_channels"]
    qkv = (heads + 2 * groups) * head

    def linear(rows, cols, gain=1.0):
        return rng.standard_normal((rows, cols)) * gain / np.sqrt(cols)

    def norm():
        return 1.0 + 0.2 * rng.standard_normal(hidden)

    vocab = config["padded_vocab_size"]
    weights = {"transformer.embedding.word_embeddings.weight": rng.standard_normal((vocab, hidden)),
               # Old checkpoints carry this table; a loader has to leave it alone.
               "transformer.rotary_pos_emb.inv_freq": 1.0 / 10000.0 ** (np.arange(0, head // 2, 2) / (head // 2))}
    for layer in range(config["num_layers"]):
        p = f"transformer.encoder.layers.{layer}."
        weights[p + "input_layernorm.weight"] = norm()
        weights[p + "self_attention.query_key_value.weight"] = linear(qkv, hidden, 1.5)
        weights[p + "self_attention.query_key_value.bias"] = 0.3 * rng.standard_normal(qkv)
        weights[p + "self_attention.dense.weight"] = linear(hidden, heads * head)
        weights[p + "post_attention_layernorm.weight"] = norm()
        weights[p + "mlp.dense_h_to_4h.weight"] = linear(2 * ffn, hidden, 1.5)
        weights[p + "mlp.dense_4h_to_h.weight"] = linear(hidden, ffn)
    weights["transformer.encoder.final_layernorm.weight"] = norm()
    weights["transformer.output_layer.weight"] = linear(vocab, hidden, 4.0)
    return weights


def random_prefix(config, rng):
    """Float32 P-Tuning v2 weights, as the official trainer saves them."""
    length, hidden = config["pre_seq_len"], config["hidden_size"]
    kv_size = config["num_layers"] * 2 * config["multi_query_group_num"] * config["kv_channels"]
    p = "transformer.prefix_encoder."
    prefix = {p + "embedding.weight": rng.standard_normal((length, kv_size))}
    if config["prefix_projection"]:
        prefix[p + "trans.0.weight"] = rng.standard_normal((hidden, kv_size)) / np.sqrt(kv_size)
        prefix[p + "trans.0.bias"] = 0.1 * rng.standard_normal(hidden)
        prefix[p + "trans.2.weight"] = rng.standard_normal((kv_size, hidden)) / np.sqrt(hidden)
        prefix[p + "trans.2.bias"] = 0.1 * rng.standard_normal(kv_size)
    return {name: value.astype(np.float32) for name, value in prefix.items()}


def to_bfloat16_bits(values):
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


class BFloat16:
    """numpy has no bfloat16: the bits, and a shape."""

    def __init__(self, values):
        self.bits = to_bfloat16_bits(values)

    def widened(self):
        return (self.bits.astype(np.uint32) << 16).view(np.float32)


def is_layer_linear(name):
    return ".layers." in name and name.endswith(".weight") and "layernorm" not in name


def quantize_official(weights, bits):
    """Only the layers' linears; one float16 scale per row = max|row| / 7 (or 127); quotient rounded in float16."""
    largest_level = np.float16(2 ** (bits - 1) - 1)
    stored = {}
    for name, value in weights.items():
        if not is_layer_linear(name):
            stored[name] = value
            continue
        scale = np.abs(value).max(axis=1) / largest_level
        levels = np.rint(value / scale[:, None]).astype(np.int8)
        if bits == 4:
            levels = ((levels[:, 0::2] << 4) | (levels[:, 1::2] & 15)).astype(np.int8)
        stored[name] = levels
        stored[name + "_scale"] = scale
    return stored


def widened(stored, bits):
    """What the stored tensors mean, in float64."""
    values = {}
    for name, tensor in stored.items():
        if name.endswith("_scale"):
            continue
        scale = stored.get(name + "_scale")
        if scale is None:
            plain = tensor.widened() if isinstance(tensor, BFloat16) else tensor
            values[name] = plain.astype(np.float64)
            continue
        levels = tensor
        if bits == 4:
            levels = np.empty((tensor.shape[0], 2 * tensor.shape[1]), np.int8)
            levels[:, 0::2] = tensor >> 4
            levels[:, 1::2] = (tensor << 4).astype(np.int8) >> 4
        values[name] = levels.astype(np.float64) * scale.astype(np.float64)[:, None]
    return values


# --- forward pass ----------------------------------------------------------------------------------------------------

def rms_norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def rotate(x, divisor):
    """x [tokens, heads, head]: adjacent pairs in the first half of each head turn by position * 10000^(-4i / head)."""
    tokens, _, head = x.shape
    rotary = head // 2
    frequency = (1.0 / 10000.0 ** (np.arange(0, rotary, 2) / rotary)).astype(np.float32)
    position = np.arange(tokens, dtype=np.float32) / np.float32(divisor)
    angle = np.outer(position, frequency).astype(np.float64)[:, None, :]
    turned = x.copy()
    first, second = x[..., 0:rotary:2], x[..., 1:rotary:2]
    turned[..., 0:rotary:2] = first * np.cos(angle) - second * np.sin(angle)
    turned[..., 1:rotary:2] = second * np.cos(angle) + first * np.sin(angle)
    return turned


def attend(query, key, value, num_prefix):
    """Causal attention of one query head; every token sees the whole prefix."""
    scores = query @ key.T / np.sqrt(query.shape[1])
    slot = np.arange(len(key))[None, :]
    scores[slot > np.arange(len(query))[:, None] + num_prefix] = -np.inf
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True) @ value


def encode_prefix(prefix, config):
    """[2 * num_layers, length, groups, head]: key and value of each layer."""
    p = "transformer.prefix_encoder."
    rows = prefix[p + "embedding.weight"].astype(np.float64)
    if config["prefix_projection"]:
        rows = np.tanh(rows @ prefix[p + "trans.0.weight"].T + prefix[p + "trans.0.bias"])
        rows = rows @ prefix[p + "trans.2.weight"].T + prefix[p + "trans.2.bias"]
    shape = (len(rows), 2 * config["num_layers"], config["multi_query_group_num"], config["kv_channels"])
    return rows.reshape(shape).transpose(1, 0, 2, 3)


def forward(w, config, ids, prefix=None):
    """@return logits [tokens, vocab], hidden states [layers + 1, tokens, hidden]"""
    heads, groups, head = config["num_attention_heads"], config["multi_query_group_num"], config["kv_channels"]
    eps, divisor = config["layernorm_epsilon"], config.get("rope_ratio", 1)
    x = w["transformer.embedding.word_embeddings.weight"][ids]
    hidden_states = [x]
    for layer in range(config["num_layers"]):
        p = f"transformer.encoder.layers.{layer}."
        normed = rms_norm(x, w[p + "input_layernorm.weight"], eps)
        fused = (normed @ w[p + "self_attention.query_key_value.weight"].T
                 + w[p + "self_attention.query_key_value.bias"]).reshape(len(ids), heads + 2 * groups, head)
        query = rotate(fused[:, :heads], divisor)
        key = rotate(fused[:, heads:heads + groups], divisor)
        value = fused[:, heads + groups:]
        num_prefix = 0
        if prefix is not None:
            key = np.concatenate([prefix[2 * layer], key])
            value = np.concatenate([prefix[2 * layer + 1], value])
            num_prefix = prefix.shape[1]
        context = [attend(query[:, h], key[:, h * groups // heads], value[:, h * groups // heads], num_prefix)
                   for h in range(heads)]
        x = x + np.concatenate(context, axis=1) @ w[p + "self_attention.dense.weight"].T

        normed = rms_norm(x, w[p + "post_attention_layernorm.weight"], eps)
        gate, up = np.split(normed @ w[p + "mlp.dense_h_to_4h.weight"].T, 2, axis=1)
        x = x + (gate / (1.0 + np.exp(-gate)) * up) @ w[p + "mlp.dense_4h_to_h.weight"].T
        hidden_states.append(x)
    last = rms_norm(x, w["transformer.encoder.final_layernorm.weight"], eps)
    return last @ w["transformer.output_layer.weight"].T, np.stack(hidden_states)


def greedy(w, config, ids, prefix, count):
    ids, new_ids, margins = list(ids), [], []
    for _ in range(count):
        logits = forward(w, config, ids, prefix)[0][-1]
        second, best = np.sort(logits)[-2:]
        new_ids.append(int(logits.argmax()))
        margins.append(round(float(best - second), 4))
        ids.append(new_ids[-1])
    return new_ids, margins


# --- files -----------------------------------------------------------------------------------------------------------

def write_json(path, value):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        json.dump(value, file, indent=1)
        file.write("\n")


def write_folder(folder, config, stored, save=torch_files.save_safetensors, num_shards=1):
    os.makedirs(folder)
    write_json(os.path.join(folder, "config.json"), config)
    tensors = {name: torch_files.from_numpy(value.bits, "bfloat16") if isinstance(value, BFloat16)
               else torch_files.from_numpy(value) for name, value in stored.items()}
    if num_shards > 1:
        torch_files.save_sharded(folder, tensors, num_shards, save)
        return
    file_name = "model.safetensors" if save is torch_files.save_safetensors else "pytorch_model.bin"
    save(os.path.join(folder, file_name), tensors)


def write_case(output, name, checkpoints, config, stored, prefix_weights=None, base=None):
    """checkpoints: {folder: function that writes it}"""
    case_dir = os.path.join(output, name)
    expected_dir = os.path.join(case_dir, "expected")
    os.makedirs(expected_dir)
    for folder, write in checkpoints.items():
        write(os.path.join(case_dir, folder))
    weights = widened(stored, config.get("quantization_bit", 0))
    prefix = encode_prefix(prefix_weights, config) if prefix_weights else None
    rng = np.random.default_rng(7)
    prompts = []
    for index, length in enumerate(PROMPT_LENGTHS):
        ids = [int(i) for i in rng.integers(3, config["padded_vocab_size"], length)]
        logits, hidden_states = forward(weights, config, ids, prefix)
        new_ids, margins = greedy(weights, config, ids, prefix, NUM_GREEDY)
        np.save(os.path.join(expected_dir, f"p{index}_logits.npy"), logits.astype(np.float32))
        prompt = {"input_ids": ids, "logits": f"p{index}_logits.npy", "greedy": new_ids,
                  "greedy_top1_margins": margins}
        if not prefix_weights and not config.get("quantization_bit"):
            np.save(os.path.join(expected_dir, f"p{index}_hidden.npy"), hidden_states.astype(np.float32))
            prompt["hidden_states"] = f"p{index}_hidden.npy"
        prompts.append(prompt)
    case = {"case": name, "checkpoints": [f"models/{name}/{folder}" for folder in checkpoints],
            "expected_dir": f"models/{name}/expected", "prompts": prompts}
    if base:
        case["base_checkpoint"] = f"models/{base}"
    text = json.dumps(case, separators=(",", ":")).replace("],", "],\n").replace("},{", "},\n{")
    with open(os.path.join(case_dir, "case.json"), "w", encoding="utf-8", newline="\n") as file:
        file.write(text + "\n")


def as_float16(weights):
    return {name: value.astype(np.float16) for name, value in weights.items()}


def main():
    output = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "models")
    shutil.rmtree(output, ignore_errors=True)
    weights = random_weights(CONFIG, np.random.default_rng(1))
    half = as_float16(weights)

    def whole(config, stored, **layout):
        return lambda folder: write_folder(folder, config, stored, **layout)

    write_case(output, "plain-fp16",
               {"safetensors": whole(CONFIG, half),
                "sharded-safetensors": whole(CONFIG, half, num_shards=3),
                "sharded-bin": whole(CONFIG, half, save=torch_files.save_zip, num_shards=2)},
               CONFIG, half)

    bf16_config = dict(CONFIG, torch_dtype="bfloat16", num_layers=1)
    bf16 = {name: BFloat16(value) for name, value in random_weights(bf16_config, np.random.default_rng(2)).items()}
    write_case(output, "plain-bf16", {"safetensors": whole(bf16_config, bf16)}, bf16_config, bf16)

    long_config = dict(CONFIG, _name_or_path="THUDM/chatglm2-6b-32k", rope_ratio=4, num_layers=1)
    long_weights = as_float16(random_weights(long_config, np.random.default_rng(3)))
    write_case(output, "long-context", {"safetensors": whole(long_config, long_weights)}, long_config, long_weights)

    for bits in (8, 4):
        config = dict(CONFIG, quantization_bit=bits)
        stored = quantize_official(half, bits)
        write_case(output, f"official-int{bits}", {"safetensors": whole(config, stored)}, config, stored)

    for name, projection in (("prefix", False), ("prefix-projection", True)):
        config = dict(CONFIG, pre_seq_len=6, prefix_projection=projection)
        prefix = random_prefix(config, np.random.default_rng(4))
        write_case(output, name, {"prefix-only": whole(config, prefix, save=torch_files.save_zip)}, config, half,
                   prefix, base="plain-fp16/safetensors")

    merged_config = dict(CONFIG, pre_seq_len=3, prefix_projection=False, num_layers=1)
    merged = as_float16(random_weights(merged_config, np.random.default_rng(5)))
    prefix = random_prefix(merged_config, np.random.default_rng(6))
    write_case(output, "prefix-merged", {"safetensors": whole(merged_config, {**merged, **prefix})}, merged_config,
               merged, prefix)


if __name__ == "__main__":
    main()
