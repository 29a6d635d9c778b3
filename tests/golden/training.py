"""Ten AdamW steps of a small causal Transformer with two layers in PyTorch: writes training.safetensors.

It contains the initial weights, the batch, and the loss before each step. tests/train/parity_test.cpp runs the same steps.
Needs PyTorch: python3 tests/golden/training.py
"""
import torch
import torch.nn.functional as F

import golden

torch.manual_seed(1)
VOCABULARY, WIDTH, HEADS, LAYERS, BATCH, LENGTH = 23, 16, 2, 2, 3, 11


def normal(*shape):
    return torch.nn.Parameter(torch.randn(shape) * 0.2)


weights = {"embedding": normal(VOCABULARY, WIDTH), "positions": normal(LENGTH, WIDTH)}
for i in range(LAYERS):
    weights |= {
        f"{i}.qkv.weight": normal(3 * WIDTH, WIDTH), f"{i}.qkv.bias": normal(3 * WIDTH),
        f"{i}.out.weight": normal(WIDTH, WIDTH), f"{i}.out.bias": normal(WIDTH),
        f"{i}.norm1.weight": torch.nn.Parameter(1 + 0.1 * torch.randn(WIDTH)), f"{i}.norm1.bias": normal(WIDTH),
        f"{i}.up.weight": normal(4 * WIDTH, WIDTH), f"{i}.up.bias": normal(4 * WIDTH),
        f"{i}.down.weight": normal(WIDTH, 4 * WIDTH), f"{i}.down.bias": normal(WIDTH),
        f"{i}.norm2.weight": torch.nn.Parameter(1 + 0.1 * torch.randn(WIDTH)), f"{i}.norm2.bias": normal(WIDTH),
    }
ids = torch.randint(0, VOCABULARY, (BATCH, LENGTH))
targets = torch.randint(0, VOCABULARY, (BATCH, LENGTH))


def loss():
    w = weights
    x = F.embedding(ids, w["embedding"]) + w["positions"]
    for i in range(LAYERS):
        def linear(name, a):
            return F.linear(a, w[f"{i}.{name}.weight"], w[f"{i}.{name}.bias"])

        def norm(name, a):
            return F.layer_norm(a, (WIDTH,), w[f"{i}.{name}.weight"], w[f"{i}.{name}.bias"])

        q, k, v = linear("qkv", x).reshape(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
        x = norm("norm1", x + linear("out", seen))
        x = norm("norm2", x + linear("down", F.gelu(linear("up", x))))
    logits = F.linear(x, w["embedding"])  # tied
    return F.cross_entropy(logits.reshape(-1, VOCABULARY), targets.reshape(-1), label_smoothing=0.1)


tensors = {f"initial/{name}": value.detach().clone() for name, value in weights.items()}
tensors |= {"ids": ids, "targets": targets}
optimizer = torch.optim.AdamW(weights.values(), lr=1e-2, weight_decay=0.1)
losses = []
for _ in range(10):
    optimizer.zero_grad()
    value = loss()
    value.backward()
    optimizer.step()
    losses.append(value.item())
tensors["losses"] = torch.tensor(losses)
tensors |= {f"final/{name}": weights[name].detach() for name in ["embedding", "0.qkv.weight", "1.norm2.bias"]}
golden.save("training", tensors)
print(losses)
