"""Golden numbers for attend/attention: scores, pooling, Nadaraya–Watson, multi-head attention. Needs PyTorch."""
import math

import torch
import torch.nn.functional as F
from golden import save

torch.manual_seed(20170612)
B, T, S, D, W = 2, 3, 5, 6, 4  # batch, queries, keys, query and key width, value width
out = {}

q, k, v = torch.randn(B, T, D), torch.randn(B, S, D), torch.randn(B, S, W)
lengths = torch.tensor([5, 3])
hidden = 7
wq, wk, wv = torch.randn(hidden, D) * 0.5, torch.randn(hidden, D) * 0.5, torch.randn(hidden)
bilinear, location = torch.randn(D, D) * 0.5, torch.randn(8, D) * 0.5
beta, width = torch.tensor(2.5), torch.tensor(0.7)
out.update(q=q, k=k, v=v, lengths=lengths.int(), wq=wq, wk=wk, wv=wv, bilinear=bilinear, location=location, beta=beta, width=width)

scores = {
    "dot": q @ k.transpose(1, 2),
    "scaled_dot": q @ k.transpose(1, 2) / math.sqrt(D),
    "additive": torch.tanh((q @ wq.T).unsqueeze(2) + (k @ wk.T).unsqueeze(1)) @ wv,
    "general": q @ bilinear @ k.transpose(1, 2),
    "location": (q @ location.T)[:, :, :S],
    "content": beta * F.cosine_similarity(q.unsqueeze(2), k.unsqueeze(1), dim=-1),
    "gaussian": -0.5 * (((q.unsqueeze(2) - k.unsqueeze(1)) * width) ** 2).sum(-1),
    "uniform": torch.zeros(B, T, S),
}
hidden_keys = torch.arange(S)[None, None, :] >= lengths[:, None, None]
for name, score in scores.items():
    weights = score.masked_fill(hidden_keys, -math.inf).softmax(-1)
    out[f"{name}/scores"], out[f"{name}/weights"], out[f"{name}/pooled"] = score, weights, weights @ v

# Multi-head attention with inputs of different sizes: the layer of PyTorch, and an implementation with additive scores.
E, H = 12, 3
layer = torch.nn.MultiheadAttention(E, H, kdim=5, vdim=7, batch_first=True)
torch.nn.init.normal_(layer.in_proj_bias)
torch.nn.init.normal_(layer.out_proj.bias)
query, key, value = torch.randn(B, T, E), torch.randn(B, S, 5), torch.randn(B, S, 7)
result, weights = layer(query, key, value, key_padding_mask=hidden_keys[:, 0], average_attn_weights=False)
bq, bk, bv = layer.in_proj_bias.chunk(3)
out.update({"heads/query": query, "heads/key": key, "heads/value": value,
            "heads/parameters/query.weight": layer.q_proj_weight, "heads/parameters/query.bias": bq,
            "heads/parameters/key.weight": layer.k_proj_weight, "heads/parameters/key.bias": bk,
            "heads/parameters/value.weight": layer.v_proj_weight, "heads/parameters/value.bias": bv,
            "heads/parameters/output.weight": layer.out_proj.weight, "heads/parameters/output.bias": layer.out_proj.bias,
            "heads/result": result, "heads/weights": weights})

additive_v = torch.randn(H, E // H)


def by_head(x):
    return x.unflatten(-1, (H, E // H)).transpose(1, 2)


qh = by_head(query @ layer.q_proj_weight.T + bq)
kh = by_head(key @ layer.k_proj_weight.T + bk)
vh = by_head(value @ layer.v_proj_weight.T + bv)
score = (torch.tanh(qh.unsqueeze(3) + kh.unsqueeze(2)) * additive_v[None, :, None, None, :]).sum(-1)
weights = score.masked_fill(hidden_keys[:, None], -math.inf).softmax(-1)
context = (weights @ vh).transpose(1, 2).flatten(2)
out.update({"heads/additive_v": additive_v, "heads/additive_weights": weights, "heads/additive_result": layer.out_proj(context)})
save("attention", out)
