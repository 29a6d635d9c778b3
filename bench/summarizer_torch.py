"""The peer of summarizer_bench.cpp: the same network of PyTorch's layers."""
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch_job import job, serve

TEXTS, SOURCE, SUMMARY, VOCABULARY, WIDTH = 24, 100, 8, 8000, 192


class Summarizer(nn.Module):
    def __init__(self, recurrent_layers, encoder_layers):
        super().__init__()
        self.shared = nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH // 2, recurrent_layers, batch_first=True,
                            bidirectional=True) if recurrent_layers else None
        self.register_buffer("positions", torch.randn(SOURCE, WIDTH))
        options = dict(dim_feedforward=512, dropout=0.3, activation="relu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, **options), encoder_layers,
                                             nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(WIDTH, 4, **options), 1, nn.LayerNorm(WIDTH))
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(SUMMARY))
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))
        self.query, self.key, self.gate = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(2 * WIDTH, 1)
        self.dropout = nn.Dropout(0.3)

    def forward(self, ids, words):
        x = self.shared(ids) * math.sqrt(WIDTH)
        x = self.dropout(x if self.lstm else x + self.positions)
        if self.lstm:
            x = x + self.dropout(self.lstm(x)[0])
        source = self.encoder(x)
        y = self.dropout(self.shared(words) * math.sqrt(WIDTH) + self.positions[:SUMMARY])
        states = self.decoder(y, source, tgt_mask=self.mask, tgt_is_causal=True)
        weights = torch.softmax(self.query(states) @ self.key(source).transpose(1, 2) / math.sqrt(WIDTH), -1)
        gate = self.gate(torch.cat([states, weights @ source], -1))
        logits = F.linear(states, self.shared.weight, self.bias)
        copied = torch.zeros_like(logits).scatter_add(2, ids[:, None].expand(-1, SUMMARY, -1), weights)
        return torch.log(torch.sigmoid(gate) * torch.softmax(logits, -1) + torch.sigmoid(-gate) * copied)


def step(recurrent_layers, encoder_layers):
    model = Summarizer(recurrent_layers, encoder_layers).train()
    adam = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    source = torch.randint(0, VOCABULARY, (TEXTS, SOURCE))
    words, targets = (torch.randint(0, VOCABULARY, (TEXTS, SUMMARY)) for _ in range(2))

    def run():
        F.cross_entropy(model(source, words).flatten(0, 1), targets.flatten(), label_smoothing=0.1).backward()
        adam.step()
        adam.zero_grad(set_to_none=True)
    return run


job("summarizer.step.attention")(lambda: step(0, 2))
job("summarizer.step.recurrent")(lambda: step(1, 1))
serve()
