#!/usr/bin/env python3
# The results of PyTorch's nn.Transformer with options that Marian does not have (norms before the sub-layers, a final
# norm, learned positions), with the parameter names of Attend: logits, encoder states, and the losses of ten AdamW
# steps.
#   python3 tests/golden/transformer.py              writes tests/golden/transformer.safetensors
import torch
from golden import save
from torch import nn
from torch.nn import functional as F

SOURCE_WORDS, TARGET_WORDS, WIDTH, HEADS, POSITIONS = 19, 23, 9, 3, 8
ENCODER_LAYERS, DECODER_LAYERS, INNER = 1, 2, 13
SOURCE = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0], [8, 9, 18, 0, 0]])
LENGTHS = torch.tensor([5, 2, 3])
WORDS = torch.tensor([[1, 3, 5, 7], [2, 4, 6, 8], [9, 10, 11, 22]])
TARGETS = torch.tensor([[3, 5, 7, 2], [4, 6, 8, 2], [10, 2, -100, -100]])
OUTSIDE = torch.arange(SOURCE.shape[1])[None] >= LENGTHS[:, None]


class Translator(nn.Module):
    def __init__(self, norm_first, final_norm, activation):
        super().__init__()
        self.source, self.target = nn.Embedding(SOURCE_WORDS, WIDTH), nn.Embedding(TARGET_WORDS, WIDTH)
        self.source_positions, self.target_positions = nn.Embedding(POSITIONS, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        options = dict(dim_feedforward=INNER, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first)
        norm = (lambda: nn.LayerNorm(WIDTH)) if final_norm else lambda: None
        self.transformer = nn.Transformer(
            WIDTH, HEADS, batch_first=True,
            custom_encoder=nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, HEADS, **options), ENCODER_LAYERS, norm(),
                                                 enable_nested_tensor=False),
            custom_decoder=nn.TransformerDecoder(nn.TransformerDecoderLayer(WIDTH, HEADS, **options), DECODER_LAYERS, norm()))
        self.output = nn.Linear(WIDTH, TARGET_WORDS)
        for name, value in self.named_parameters():
            nn.init.normal_(value, std=0.4)
            if "norm" in name and name.endswith("weight"):
                value.data += 1

    def forward(self):
        x = self.source(SOURCE) + self.source_positions.weight[:SOURCE.shape[1]]
        y = self.target(WORDS) + self.target_positions.weight[:WORDS.shape[1]]
        states = self.transformer.encoder(x, src_key_padding_mask=OUTSIDE)
        later = torch.ones(WORDS.shape[1], WORDS.shape[1], dtype=torch.bool).triu(1)
        said = self.transformer.decoder(y, states, tgt_mask=later, memory_key_padding_mask=OUTSIDE)
        return states, self.output(said)

    def by_our_names(self):
        """{name: tensor}, copied."""
        out = {"model.encoder.embed_tokens.weight": self.source.weight, "model.decoder.embed_tokens.weight": self.target.weight,
               "model.encoder.embed_positions.weight": self.source_positions.weight,
               "model.decoder.embed_positions.weight": self.target_positions.weight,
               "lm_head.weight": self.output.weight, "final_logits_bias": self.output.bias[None]}

        def attention(name, module):
            for kind in ("weight", "bias"):
                parts = getattr(module, f"in_proj_{kind}").chunk(3)
                out.update({f"{name}.{p}_proj.{kind}": part for p, part in zip("qkv", parts)})
                out[f"{name}.out_proj.{kind}"] = getattr(module.out_proj, kind)

        def plain(name, module):
            out.update({f"{name}.{kind}": getattr(module, kind) for kind in ("weight", "bias")})

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
            if stack.norm is not None:
                plain(f"model.{side}.layer_norm", stack.norm)
        return {key: value.detach().clone() for key, value in out.items()}


def run(norm_first, final_norm, activation):
    model = Translator(norm_first, final_norm, activation)
    tensors = model.by_our_names()
    states, logits = model()
    tensors |= {"states": states, "logits": logits}
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01), []
    for _ in range(10):
        optimizer.zero_grad()
        loss = F.cross_entropy(model()[1].flatten(0, 1), TARGETS.flatten(), ignore_index=-100, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    name = f"{'pre' if norm_first else 'post'}{'_final' if final_norm else ''}_{activation}"
    print(name, losses)
    return {f"{name}/{key}": value for key, value in (tensors | {"losses": torch.tensor(losses)}).items()}


torch.manual_seed(0)
everything = {"ids": SOURCE, "lengths": LENGTHS, "words": WORDS, "targets": TARGETS}
for choice in [(True, True, "relu"), (True, True, "gelu"), (False, True, "relu"), (False, False, "gelu")]:
    everything |= run(*choice)
save("transformer", everything)
