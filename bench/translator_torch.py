"""The PyTorch peer of translator_bench.cpp: GRU encoder and decoder with additive attention, keys projected once."""
import torch
from torch import nn
from torch.nn import functional as F
from torch_job import job, serve

BATCH, WORDS, WIDTH, LAYERS, DROPOUT = 128, 10, 256, 2, 0.2


class Translator(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.source = nn.Embedding(vocabulary, WIDTH)
        self.target = nn.Embedding(vocabulary, WIDTH)
        self.encoder = nn.GRU(WIDTH, WIDTH, LAYERS, dropout=DROPOUT, batch_first=True)
        self.decoder = nn.GRU(2 * WIDTH, WIDTH, LAYERS, dropout=DROPOUT, batch_first=True)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.v = nn.Linear(WIDTH, 1, bias=False)
        self.output = nn.Linear(WIDTH, vocabulary)

    def forward(self, source, words):
        states, hidden = self.encoder(self.source(source))
        keys = self.key(states)
        outputs = []
        for word in self.target(words).split(1, dim=1):
            query = self.query(hidden[-1]).unsqueeze(1)
            weights = torch.softmax(self.v(torch.tanh(query + keys)).squeeze(-1), -1)
            context = torch.bmm(weights.unsqueeze(1), states)
            state, hidden = self.decoder(torch.cat((context, word), -1), hidden)
            outputs.append(state)
        return self.output(torch.cat(outputs, 1))


def step(vocabulary):
    model = Translator(vocabulary).train()
    adam = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    source, words, targets = (torch.randint(0, vocabulary, (BATCH, WORDS)) for _ in range(3))

    def run():
        logits = model(source, words)
        F.cross_entropy(logits.reshape(-1, vocabulary), targets.reshape(-1)).backward()
        adam.step()
        adam.zero_grad(set_to_none=True)
    return run


@job("translator.step.vocabulary300")
def _():
    return step(300)


@job("translator.step.vocabulary5000")
def _():
    return step(5000)


serve()
