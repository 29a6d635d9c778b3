#!/usr/bin/env python3
# A decoder layer of Llama: RMS norms before the sub-layers, grouped key-value heads, rotary positions, a gated
# feed-forward network, no biases.
#   python3 tests/golden/block.py        writes tests/golden/block.safetensors
# Needs torch and transformers. The tests only read the results.
import pathlib

import torch
from golden import save
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

torch.manual_seed(0)
config = LlamaConfig(hidden_size=20, num_attention_heads=4, num_key_value_heads=2, head_dim=6, intermediate_size=27,
                     rms_norm_eps=1e-5, rope_theta=100.0, attn_implementation="eager", max_position_embeddings=32)
layer = LlamaDecoderLayer(config, 0).eval()
with torch.no_grad():
    for name, value in layer.named_parameters():
        value.copy_(torch.randn_like(value) * 0.3 + (1 if name.endswith("norm.weight") else 0))
x = torch.randn(2, 7, 20, requires_grad=True)
positions = torch.arange(7)[None].expand(2, -1)
mask = torch.full((7, 7), float("-inf")).triu(1)[None, None].expand(2, 1, -1, -1)
y = layer(x, attention_mask=mask, position_embeddings=LlamaRotaryEmbedding(config)(x, positions))
y = y[0] if isinstance(y, tuple) else y
dy = torch.randn_like(y)
y.backward(dy)
tensors = {"x": x, "y": y, "dy": dy, "dx": x.grad}
for name, value in layer.named_parameters():
    tensors[f"weights.{name}"], tensors[f"gradients.{name}"] = value, value.grad
save(pathlib.Path(__file__).parent / "block", {name: value.detach() for name, value in tensors.items()})
