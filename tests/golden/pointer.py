#!/usr/bin/env python3
# The results of a pointer-generator network on PyTorch's nn.Transformer (See, Liu and Manning 2017), with the parameter
# names of Attend: encoder states, log-probabilities, pointer weights, coverage, the gradients of all parameters, and the
# losses of ten AdamW steps. Also the mixture and the coverage loss alone, with their gradients.
#   python3 tests/golden/pointer.py              writes tests/golden/pointer.safetensors
import math

import torch
from golden import save
from torch import nn
from torch.nn import functional as F

WORDS, WIDTH, HEADS, POSITIONS, INNER = 19, 9, 3, 8, 13
SOURCE = torch.tensor([[1, 2, 3, 2, 5, 2], [6, 7, 0, 0, 0, 0], [8, 9, 18, 9, 0, 0]])
LENGTHS = torch.tensor([6, 2, 4])
INPUTS = torch.tensor([[1, 3, 5, 7], [2, 4, 6, 8], [9, 10, 11, 12]])
TARGETS = torch.tensor([[3, 2, 7, 2], [4, 6, 8, 2], [9, 2, -100, -100]])
TARGET_LENGTHS = torch.tensor([4, 4, 2])
OUTSIDE = torch.arange(SOURCE.shape[1])[None] >= LENGTHS[:, None]
COVERAGE = 0.7


def mixture(logits, weights, gate, ids):
    """log(g softmax(logits) + (1 - g) copied), See et al. 2017, eq. 9."""
    copied = torch.zeros_like(logits).scatter_add(2, ids[:, None].expand(-1, logits.shape[1], -1), weights)
    return torch.log(torch.sigmoid(gate) * torch.softmax(logits, -1) + torch.sigmoid(-gate) * copied)


def coverage_loss(weights, lengths):
    """Eq. 12, summed over the targets that count."""
    before = weights.cumsum(1) - weights
    counts = torch.arange(weights.shape[1])[None] < lengths[:, None]
    return (torch.minimum(weights, before).sum(2) * counts).sum()


class Summarizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(WORDS, WIDTH)
        self.source_positions, self.target_positions = nn.Embedding(POSITIONS, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        options = dict(dim_feedforward=INNER, dropout=0.0, activation="relu", batch_first=True)
        self.transformer = nn.Transformer(
            WIDTH, HEADS, batch_first=True,
            custom_encoder=nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, HEADS, **options), 1,
                                                 enable_nested_tensor=False),
            custom_decoder=nn.TransformerDecoder(nn.TransformerDecoderLayer(WIDTH, HEADS, **options), 2))
        self.bias = nn.Parameter(torch.zeros(WORDS))
        self.query, self.key, self.gate = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(2 * WIDTH, 1)
        for name, value in self.named_parameters():
            nn.init.normal_(value, std=0.4)
            if "norm" in name and name.endswith("weight"):
                value.data += 1

    def forward(self):
        x = self.shared(SOURCE) + self.source_positions.weight[:SOURCE.shape[1]]
        y = self.shared(INPUTS) + self.target_positions.weight[:INPUTS.shape[1]]
        source = self.transformer.encoder(x, src_key_padding_mask=OUTSIDE)
        later = torch.ones(INPUTS.shape[1], INPUTS.shape[1], dtype=torch.bool).triu(1)
        states = self.transformer.decoder(y, source, tgt_mask=later, memory_key_padding_mask=OUTSIDE)
        scores = self.query(states) @ self.key(source).transpose(1, 2) / math.sqrt(WIDTH)
        weights = torch.softmax(scores.masked_fill(OUTSIDE[:, None], -torch.inf), -1)
        gate = self.gate(torch.cat([states, weights @ source], -1))
        return source, mixture(states @ self.shared.weight.T + self.bias, weights, gate, SOURCE), weights

    def loss(self):
        _, logits, weights = self()
        nll = F.cross_entropy(logits.flatten(0, 1), TARGETS.flatten(), ignore_index=-100, label_smoothing=0.1, reduction="sum")
        return (nll + COVERAGE * coverage_loss(weights, TARGET_LENGTHS)) / (TARGETS != -100).sum()

    def by_our_names(self, of):
        """{name: of(parameter)}; the rows of an attention's projections apart."""
        out = {"model.shared.weight": of(self.shared.weight), "final_logits_bias": of(self.bias)[None],
               "model.encoder.embed_positions.weight": of(self.source_positions.weight),
               "model.decoder.embed_positions.weight": of(self.target_positions.weight)}

        def plain(name, module):
            out.update({f"{name}.{kind}": of(getattr(module, kind)) for kind in ("weight", "bias")})

        def attention(name, module):
            for kind in ("weight", "bias"):
                parts = of(getattr(module, f"in_proj_{kind}")).chunk(3)
                out.update({f"{name}.{p}_proj.{kind}": part for p, part in zip("qkv", parts)})
            plain(f"{name}.out_proj", module.out_proj)

        for side, stack in (("encoder", self.transformer.encoder), ("decoder", self.transformer.decoder)):
            for i, layer in enumerate(stack.layers):
                name = f"model.{side}.layers.{i}"
                norms = {"encoder": ["self_attn", "final"], "decoder": ["self_attn", "encoder_attn", "final"]}[side]
                attention(f"{name}.self_attn", layer.self_attn)
                if side == "decoder":
                    attention(f"{name}.encoder_attn", layer.multihead_attn)
                for k, which in enumerate(norms, 1):
                    plain(f"{name}.{which}_layer_norm", getattr(layer, f"norm{k}"))
                plain(f"{name}.fc1", layer.linear1), plain(f"{name}.fc2", layer.linear2)
        for part in ("query", "key", "gate"):
            plain(f"pointer.{part}", getattr(self, part))
        return {key: value.detach().clone() for key, value in out.items()}


torch.manual_seed(0)
model = Summarizer()
everything = {"ids": SOURCE, "lengths": LENGTHS, "words": INPUTS, "targets": TARGETS, "target_lengths": TARGET_LENGTHS}
everything |= model.by_our_names(lambda p: p)
states, logits, weights = model()
everything |= {"states": states, "logits": logits, "copying": weights, "coverage": coverage_loss(weights, TARGET_LENGTHS)[None]}
optimizer, losses = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01), []
for step in range(10):
    optimizer.zero_grad()
    loss = model.loss()
    loss.backward()
    if step == 0:
        everything |= {f"gradient/{name}": value for name, value in model.by_our_names(lambda p: p.grad).items()}
    optimizer.step()
    losses.append(loss.item())
print(losses)
everything["losses"] = torch.tensor(losses)

# The mixture alone: odd sizes, repeated ids, a gate near 0 and near 1, impossible tokens.
logits = (torch.randn(2, 3, 37) * 4).requires_grad_()
weights = torch.softmax(torch.randn(2, 3, 11) * 3, -1)
weights[1, :, 7:] = 0
weights = (weights / weights.sum(-1, keepdim=True)).requires_grad_()
gate = torch.tensor([[[-12.0], [0.3], [9.0]], [[2.0], [-1.0], [0.0]]], requires_grad=True)
ids = torch.randint(0, 37, (2, 11))
ids[0, 3] = ids[0, 5] = ids[0, 9]
out = mixture(logits, weights, gate, ids)
dy = torch.randn_like(out)
out.backward(dy)
everything |= {"mixture/logits": logits, "mixture/weights": weights, "mixture/gate": gate, "mixture/ids": ids,
               "mixture/lengths": torch.tensor([11, 7]), "mixture/out": out, "mixture/dy": dy,
               "mixture/dlogits": logits.grad,
               "mixture/dweights": weights.grad * (torch.arange(11) < torch.tensor([[11], [7]]))[:, None], "mixture/dgate": gate.grad}
save("pointer", everything)
