"""The guide model's network: the ChatGLM2 block at a small size, for training.

Parameter names are those of the official checkpoint, so a state_dict can be saved as it is.
"""
import torch
import torch.nn.functional as F
from torch import nn

CONFIG = {
    "_name_or_path": "glmchat/guide-model",
    "model_type": "chatglm",
    "architectures": ["ChatGLMModel"],
    "add_bias_linear": False,
    "add_qkv_bias": True,
    "apply_query_key_layer_scaling": True,
    "apply_residual_connection_post_layernorm": False,
    "attention_dropout": 0.0,
    "attention_softmax_in_fp32": True,
    "bias_dropout_fusion": True,
    "ffn_hidden_size": 512,
    "fp32_residual_connection": False,
    "hidden_dropout": 0.0,
    "hidden_size": 256,
    "kv_channels": 32,
    "layernorm_epsilon": 1e-05,
    "multi_query_attention": True,
    "multi_query_group_num": 2,
    "num_attention_heads": 8,
    "num_layers": 4,
    "original_rope": True,
    "padded_vocab_size": 4032,
    "post_layer_norm": True,
    "rmsnorm": True,
    "seq_length": 2048,
    "use_cache": True,
    "torch_dtype": "float16",
    "tie_word_embeddings": False,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


class RMSNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        x32 = x.float()
        return x32 * torch.rsqrt((x32 * x32).mean(-1, keepdim=True) + self.eps) * self.weight


def rotary_table(positions, half):
    """cos and sin, float32, for the first `half` channels of a head, taken as interleaved pairs."""
    theta = 10000.0 ** (-torch.arange(0, half, 2, dtype=torch.float32) / half)
    angle = positions.float().unsqueeze(-1) * theta
    return angle.cos(), angle.sin()


def rotate(x, cos, sin, half):
    """x [batch, heads, length, channels]; cos and sin [batch, 1, length, half / 2]."""
    a, b = x[..., 0:half:2], x[..., 1:half:2]
    turned = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)
    return torch.cat((turned, x[..., half:]), dim=-1)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c["num_attention_heads"]
        self.groups = c["multi_query_group_num"]
        self.channels = c["kv_channels"]
        width = self.channels * (self.heads + 2 * self.groups)
        self.query_key_value = nn.Linear(c["hidden_size"], width, bias=True)
        self.dense = nn.Linear(self.heads * self.channels, c["hidden_size"], bias=False)

    def forward(self, x, rope, mask):
        batch, length, _ = x.shape
        h, g, d = self.heads, self.groups, self.channels
        q, k, v = self.query_key_value(x).split((h * d, g * d, g * d), dim=-1)
        q = q.view(batch, length, h, d).transpose(1, 2)
        k = k.view(batch, length, g, d).transpose(1, 2)
        v = v.view(batch, length, g, d).transpose(1, 2)
        cos, sin = rope
        q = rotate(q, cos, sin, d // 2).to(v.dtype)
        k = rotate(k, cos, sin, d // 2).to(v.dtype)
        # The heads of a group share their keys: one product per group, written out so that it compiles into few kernels.
        n = h // g
        q = q.reshape(batch * g, n * length, d)
        k = k.reshape(batch * g, length, d)
        v = v.reshape(batch * g, length, d)
        scores = torch.bmm(q * d ** -0.5, k.transpose(1, 2)).view(batch, g, n, length, length)
        scores = scores.float() + mask
        weights = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
        weights = (weights / weights.sum(-1, keepdim=True)).to(v.dtype)
        y = torch.bmm(weights.view(batch * g, n * length, length), v).view(batch, h, length, d)
        return self.dense(y.transpose(1, 2).reshape(batch, length, h * d))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.dense_h_to_4h = nn.Linear(c["hidden_size"], 2 * c["ffn_hidden_size"], bias=False)
        self.dense_4h_to_h = nn.Linear(c["ffn_hidden_size"], c["hidden_size"], bias=False)

    def forward(self, x):
        gate, up = self.dense_h_to_4h(x).chunk(2, dim=-1)
        return self.dense_4h_to_h(F.silu(gate) * up)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = RMSNorm(c["hidden_size"], c["layernorm_epsilon"])
        self.self_attention = Attention(c)
        self.post_attention_layernorm = RMSNorm(c["hidden_size"], c["layernorm_epsilon"])
        self.mlp = Mlp(c)

    def forward(self, x, rope, mask):
        x = x + self.self_attention(self.input_layernorm(x), rope, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


def run_layer(layer, x, rope, mask):
    return layer(x, rope, mask)


class GuideModel(nn.Module):
    def __init__(self, config=CONFIG):
        super().__init__()
        self.step = run_layer  # a trainer may put a compiled function here
        c = self.config = dict(config)
        vocab, width = c["padded_vocab_size"], c["hidden_size"]
        layers = nn.ModuleList(Layer(c) for _ in range(c["num_layers"]))
        self.transformer = nn.ModuleDict({
            "embedding": nn.ModuleDict({"word_embeddings": nn.Embedding(vocab, width)}),
            "encoder": nn.ModuleDict({
                "layers": layers,
                "final_layernorm": RMSNorm(width, c["layernorm_epsilon"]),
            }),
            "output_layer": nn.Linear(width, vocab, bias=False),
        })
        for name, p in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(p)
            elif p.dim() == 2:
                scale = 0.02
                if name.endswith(("dense.weight", "dense_4h_to_h.weight")):
                    scale /= (2 * c["num_layers"]) ** 0.5
                nn.init.normal_(p, std=scale)

    def hidden(self, ids, positions, mask):
        """Final hidden states. `mask` [batch, 1, 1, length, length] is added to the scores."""
        half = self.config["kv_channels"] // 2
        cos, sin = rotary_table(positions, half)
        rope = (cos.unsqueeze(1), sin.unsqueeze(1))
        x = self.transformer["embedding"]["word_embeddings"](ids)
        for layer in self.transformer["encoder"]["layers"]:
            x = self.step(layer, x, rope, mask)
        return self.transformer["encoder"]["final_layernorm"](x)

    def forward(self, ids, positions, mask):
        return self.transformer["output_layer"](self.hidden(ids, positions, mask))
