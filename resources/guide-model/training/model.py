"""The guide model's network: the ChatGLM2 block at a small size, written for training on one CPU core.

Parameter names are those of the official checkpoint. One thing differs while training: the two numbers of a rotary pair lie half a
rotary width apart instead of side by side, which vectorises; `official_state` puts them side by side. Scores do not change, since
queries and keys are reordered alike.

All rows of a batch lie one after another in a flat [tokens, width] tensor. Only attention looks at rows: a batch is a list of
segments (rows, length) of equal total, and a row sees itself alone.
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
    "ffn_hidden_size": 640,
    "fp32_residual_connection": False,
    "hidden_dropout": 0.0,
    "hidden_size": 256,
    "kv_channels": 32,
    "layernorm_epsilon": 1e-05,
    "multi_query_attention": True,
    "multi_query_group_num": 2,
    "num_attention_heads": 8,
    "num_layers": 5,
    "original_rope": True,
    "padded_vocab_size": 5056,
    "post_layer_norm": True,
    "rmsnorm": True,
    "seq_length": 2048,
    "use_cache": True,
    "torch_dtype": "float16",
    "tie_word_embeddings": False,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
BF16 = torch.bfloat16


def linear(x, weight, bias=None):
    """A product in bfloat16 with float32 weights: x [n, in] bfloat16 -> [n, out] bfloat16."""
    return F.linear(x, weight.to(BF16), None if bias is None else bias.to(BF16))


def rms_norm(x, weight, eps):
    """x [n, width] float32 -> bfloat16."""
    return (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight).to(BF16)


def rotary_table(length, half):
    """cos and sin, [length, half / 2] float32, for the first `half` channels of a head."""
    theta = 10000.0 ** (-torch.arange(0, half, 2, dtype=torch.float32) / half)
    angle = torch.arange(length).float().unsqueeze(-1) * theta
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """x [tokens, heads, channels] bfloat16; cos and sin [tokens, 1, channels / 4]. Pairs lie channels / 4 apart."""
    n = cos.shape[-1]
    a, b = x[..., :n].float(), x[..., n:2 * n].float()
    return torch.cat(((a * cos - b * sin).to(x.dtype), (b * cos + a * sin).to(x.dtype), x[..., 2 * n:]), dim=-1)


class CausalAttention(torch.autograd.Function):
    """softmax(q k^T) v within each row of each segment, backward written out: products and softmax in few passes over the scores."""

    @staticmethod
    def forward(ctx, q, k, v, segments, biases):
        """q [tokens, heads, channels], already scaled; k, v [tokens, groups, channels]; all bfloat16. Returns q's shape."""
        heads, channels = q.shape[1:]
        groups = k.shape[1]
        share = heads // groups
        out, kept, at = torch.empty_like(q), [], 0
        for rows, length in segments:
            part = slice(at, at + rows * length)
            # The heads of a group share their keys: one product per row and group.
            qs = q[part].view(rows, length, groups, share, channels).permute(0, 2, 3, 1, 4).reshape(rows * groups, -1, channels)
            ks = k[part].view(rows, length, groups, channels).transpose(1, 2).reshape(rows * groups, length, channels)
            vs = v[part].view(rows, length, groups, channels).transpose(1, 2).reshape(rows * groups, length, channels)
            bias = biases[length].expand(rows * groups, -1, -1, -1).reshape(rows * groups, share * length, length)
            weights = torch.baddbmm(bias, qs, ks.transpose(1, 2)).softmax(-1)
            y = torch.bmm(weights, vs).view(rows, groups, share, length, channels)
            out[part] = y.permute(0, 3, 1, 2, 4).reshape(-1, heads, channels)
            kept += [qs, ks, vs, weights]
            at += rows * length
        ctx.segments = segments
        ctx.save_for_backward(*kept)
        return out

    @staticmethod
    def backward(ctx, grad):
        heads, channels = grad.shape[1:]
        kept = ctx.saved_tensors
        dq, dk, dv, at = torch.empty_like(grad), [], [], 0
        for i, (rows, length) in enumerate(ctx.segments):
            qs, ks, vs, weights = kept[4 * i:4 * i + 4]
            groups = qs.shape[0] // rows
            share = heads // groups
            part = slice(at, at + rows * length)
            g = grad[part].view(rows, length, groups, share, channels).permute(0, 2, 3, 1, 4).reshape(rows * groups, -1, channels)
            ds = torch._softmax_backward_data(torch.bmm(g, vs.transpose(1, 2)), weights, -1, BF16)
            y = torch.bmm(ds, ks).view(rows, groups, share, length, channels)
            dq[part] = y.permute(0, 3, 1, 2, 4).reshape(-1, heads, channels)
            dk.append(torch.bmm(ds.transpose(1, 2), qs).view(rows, groups, length, channels).transpose(1, 2).reshape(-1, groups, channels))
            dv.append(torch.bmm(weights.transpose(1, 2), g).view(rows, groups, length, channels).transpose(1, 2)
                      .reshape(-1, groups, channels))
            at += rows * length
        return dq, torch.cat(dk), torch.cat(dv), None, None


def chunk_loss(logits, target, weight, z):
    """logits [n, pieces] bfloat16, target and weight [n, 1]; cross-entropy [n, 1], its square term and the gradient of logits."""
    logits = logits.float()
    norm = logits.logsumexp(-1, keepdim=True)
    hit = torch.arange(logits.shape[-1]) == target
    loss = norm - torch.where(hit, logits, 0.0).sum(-1, keepdim=True)
    grad = (logits - norm).exp() * (weight * (1 + 2 * z * norm)) - torch.where(hit, weight, 0.0)
    return loss, z * norm * norm, grad.to(BF16)


class TokenLoss(torch.autograd.Function):
    """Weighted sum of cross-entropies of hidden @ output^T, in chunks: the logits of all tokens never exist at once."""

    CHUNK = 256

    @staticmethod
    def forward(ctx, hidden, output, target, weight, z, step):
        """hidden [n, width] bfloat16, n a multiple of CHUNK; output [pieces, width] float32; target, weight [n].

        z weighs log(sum exp)^2, step is chunk_loss or its compiled form. Returns the loss and each token's cross-entropy."""
        w = output.to(BF16)
        dh, dw = torch.empty_like(hidden), torch.zeros_like(output)
        total, plain = torch.zeros(()), torch.empty(len(target))
        for i in range(0, len(target), TokenLoss.CHUNK):
            part = slice(i, i + TokenLoss.CHUNK)
            h, s = hidden[part], weight[part, None]
            loss, square, grad = step(h @ w.T, target[part, None], s, z)
            plain[part] = loss[:, 0]
            total += ((loss + square) * s).sum()
            dh[part] = grad @ w
            dw += grad.T @ h
        ctx.save_for_backward(dh, dw)
        ctx.mark_non_differentiable(plain)
        return total, plain

    @staticmethod
    def backward(ctx, grad, _):
        dh, dw = ctx.saved_tensors
        return dh * grad.to(BF16), dw * grad, None, None, None, None


def before_attention(x, norm, weight, bias, cos, sin, eps, shape):
    """x [tokens, width] float32 -> q, k, v with rotary applied and q scaled; shape is (heads, groups, channels)."""
    heads, groups, channels = shape
    y = linear(rms_norm(x, norm, eps), weight, bias).view(-1, heads + 2 * groups, channels)
    q, k, v = y.split((heads, groups, groups), dim=1)
    return rotate(q, cos, sin) * channels ** -0.5, rotate(k, cos, sin), v.contiguous()


def after_attention(x, y, dense, norm, up, down, eps):
    """The rest of a block: x [tokens, width] float32, y [tokens, heads * channels] bfloat16 -> [tokens, width] float32."""
    x = x + linear(y, dense).float()
    gate, value = linear(rms_norm(x, norm, eps), up).chunk(2, dim=-1)
    return x + linear(F.silu(gate.float()).to(BF16) * value, down).float()


class Scale(nn.Module):
    """The weight of an RMSNorm."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, channels, heads, groups = c["hidden_size"], c["kv_channels"], c["num_attention_heads"], c["multi_query_group_num"]
        self.shape, self.eps = (heads, groups, channels), c["layernorm_epsilon"]
        self.input_layernorm = Scale(width)
        self.self_attention = nn.ModuleDict({
            "query_key_value": nn.Linear(width, channels * (heads + 2 * groups), bias=True),
            "dense": nn.Linear(heads * channels, width, bias=False),
        })
        self.post_attention_layernorm = Scale(width)
        self.mlp = nn.ModuleDict({
            "dense_h_to_4h": nn.Linear(width, 2 * c["ffn_hidden_size"], bias=False),
            "dense_4h_to_h": nn.Linear(c["ffn_hidden_size"], width, bias=False),
        })


class GuideModel(nn.Module):
    def __init__(self, config=CONFIG, compiled=False):
        super().__init__()
        c = self.config = dict(config)
        vocab, width = c["padded_vocab_size"], c["hidden_size"]
        self.transformer = nn.ModuleDict({
            "embedding": nn.ModuleDict({"word_embeddings": nn.Embedding(vocab, width)}),
            "encoder": nn.ModuleDict({
                "layers": nn.ModuleList(Block(c) for _ in range(c["num_layers"])),
                "final_layernorm": Scale(width),
            }),
            "output_layer": nn.Linear(width, vocab, bias=False),
        })
        self.before, self.after, self.chunk = before_attention, after_attention, chunk_loss
        if compiled:
            self.before, self.after, self.chunk = (torch.compile(f, dynamic=False) for f in (self.before, self.after, self.chunk))
        self.cos, self.sin = rotary_table(c["seq_length"], c["kv_channels"] // 2)
        self.biases = {}
        self.init()

    def init(self):
        c = self.config
        for name, p in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(p)
            elif p.dim() == 2:
                scale = c["hidden_size"] ** -0.5
                if "embedding" in name:
                    scale = 0.3
                elif name.endswith(("dense.weight", "dense_4h_to_h.weight")):
                    scale = 0.5 * scale / (2 * c["num_layers"]) ** 0.5
                elif "output_layer" in name:
                    scale = 0.5 * scale
                nn.init.normal_(p, std=scale)

    def bias(self, length):
        """[1, 1, length, length] bfloat16: what is added to scores so that no token sees later ones; kept, one per length."""
        if length not in self.biases:
            share = self.config["num_attention_heads"] // self.config["multi_query_group_num"]
            open_ = torch.ones(length, length, dtype=torch.bool).tril()
            self.biases[length] = torch.zeros(length, length).masked_fill(~open_, -1e4).to(BF16).expand(1, share, length, length)
        return self.biases[length]

    def hidden(self, ids, segments):
        """Final hidden states [tokens, width] bfloat16 of ids [tokens]; segments [(rows, length), ...] cover them in order."""
        c = self.config
        places = torch.cat([torch.arange(length).repeat(rows) for rows, length in segments])
        cos, sin = self.cos[places].unsqueeze(1), self.sin[places].unsqueeze(1)
        biases = {length: self.bias(length) for _, length in segments}
        x = F.embedding(ids, self.transformer["embedding"]["word_embeddings"].weight)
        for b in self.transformer["encoder"]["layers"]:
            qkv, mlp = b.self_attention["query_key_value"], b.mlp
            q, k, v = self.before(x, b.input_layernorm.weight, qkv.weight, qkv.bias, cos, sin, b.eps, b.shape)
            y = CausalAttention.apply(q, k, v, segments, biases)
            x = self.after(x, y.view(len(ids), -1), b.self_attention["dense"].weight, b.post_attention_layernorm.weight,
                           mlp["dense_h_to_4h"].weight, mlp["dense_4h_to_h"].weight, b.eps)
        return rms_norm(x, self.transformer["encoder"]["final_layernorm"].weight, c["layernorm_epsilon"])

    def loss(self, ids, segments, pick, target, weight, z=1e-4):
        """Loss and cross-entropies [n] at the places `pick` [n]; targets and weights [n], n a multiple of TokenLoss.CHUNK."""
        hidden = self.hidden(ids, segments)[pick]
        return TokenLoss.apply(hidden, self.transformer["output_layer"].weight, target, weight, z, self.chunk)

    def logits(self, ids, segments):
        return linear(self.hidden(ids, segments), self.transformer["output_layer"].weight).float()


def official_state(state, config):
    """A state_dict in the official layout: rows of query_key_value reordered so that rotary pairs lie side by side."""
    d, n = config["kv_channels"], config["kv_channels"] // 4
    pairs = [j for i in range(n) for j in (i, n + i)] + list(range(2 * n, d))
    turned = config["num_attention_heads"] + config["multi_query_group_num"]
    order = [head * d + j for head in range(turned) for j in pairs]
    order += range(turned * d, (turned + config["multi_query_group_num"]) * d)
    order = torch.tensor(order)
    return {k: v[order] if "query_key_value" in k else v for k, v in state.items()}
