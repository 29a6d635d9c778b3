"""The peers of transformer_bench.cpp: PyTorch's nn.Transformer, and Marian of Hugging Face transformers."""
import torch
from torch import nn
from torch.nn import functional as F
from torch_job import job, serve


class Translator(nn.Module):
    def __init__(self, vocabulary, width, layers, inner, T):
        super().__init__()
        self.source = nn.Embedding(vocabulary, width)
        self.target = nn.Embedding(vocabulary, width)
        self.register_buffer("positions", torch.randn(T, width))
        self.dropout = nn.Dropout(0.1)
        self.transformer = nn.Transformer(width, 4, layers, layers, inner, 0.1, batch_first=True)
        self.output = nn.Linear(width, vocabulary)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(T))
        self.scale = width ** 0.5

    def embed(self, table, ids):
        return self.dropout(table(ids) * self.scale + self.positions)

    def forward(self, source, words):
        return self.output(self.transformer(self.embed(self.source, source), self.embed(self.target, words),
                                            tgt_mask=self.mask, tgt_is_causal=True))


def step(model, logits, vocabulary, B, T, smoothing):
    model.train()
    adam = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    source, words, targets = (torch.randint(0, vocabulary, (B, T)) for _ in range(3))

    def run():
        predicted = logits(source, words)
        F.cross_entropy(predicted.reshape(-1, vocabulary), targets.reshape(-1), label_smoothing=smoothing).backward()
        adam.step()
        adam.zero_grad(set_to_none=True)
    return run


@job("transformer.step.d128")
def _():
    model = Translator(10000, 128, 4, 256, 32)
    return step(model, model, 10000, 128, 32, 0.1)


@job("transformer.step.d256.marian")
def _():
    from transformers import MarianConfig, MarianMTModel
    model = MarianMTModel(MarianConfig(
        vocab_size=8000, d_model=256, encoder_layers=3, decoder_layers=3, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=1024, decoder_ffn_dim=1024, activation_function="swish",
        scale_embedding=True, max_position_embeddings=512, pad_token_id=7999, decoder_start_token_id=7999))
    return step(model, lambda source, words: model(input_ids=source, decoder_input_ids=words, use_cache=False).logits,
                8000, 64, 24, 0.0)


serve()
