# Classifiers of pairs and documents in PyTorch, with the parameter names of Attend: logits, attention weights, all
# gradients, and the losses of ten AdamW steps. Each text is read alone, without padding.
import math

import torch
from golden import save
from torch import nn
from torch.nn import functional as F

WORDS, E, H, GATES = 17, 6, 5, 4
LABELS = torch.tensor([0, 2, 1])
PAIRS = [([1, 2, 3, 4], [5, 6]), ([7], [8, 7, 10]), ([11, 12, 3], [13, 14, 15, 16, 2])]
DOCUMENTS = [[[1, 2, 3], [4]], [[5, 6, 7, 8, 9, 10, 11, 12, 13]], [[14, 15], [16, 1, 2, 3, 4], [5, 6, 7]]]


class MatchCounts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(E, GATES)

    def one(self, words, text, other):
        a, b = (F.normalize(words.weight.detach()[ids], dim=-1) for ids in (text, other))
        same = torch.tensor([float(word in other) for word in text])
        matches = torch.stack([torch.ones(len(text)), 1 - same, 1 - (a @ b.T).amax(1)], -1)
        return (torch.sigmoid(self.gate(words(torch.tensor(text)))).T @ matches).flatten()

    def forward(self, words, first, second):
        return torch.cat([self.one(words, first, second), self.one(words, second, first)])


class Comparison(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(width, H), nn.Linear(H, H)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))))


class Decomposable(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.projection = nn.Embedding(WORDS, E), nn.Linear(E, H, bias=False)
        self.attend, self.compare, self.aggregate = Comparison(H), Comparison(2 * H), Comparison(2 * H + 6 * GATES)
        self.matches = MatchCounts()
        self.output = nn.Linear(H, 3)

    def one(self, first, second):
        a, b = (self.projection(self.embedding(torch.tensor(ids))) for ids in (first, second))
        scores = self.attend(a) @ self.attend(b).T
        over_b, over_a = scores.softmax(1), scores.T.softmax(1)
        compared = [self.compare(torch.cat([a, over_b @ b], -1)).sum(0), self.compare(torch.cat([b, over_a @ a], -1)).sum(0)]
        features = torch.cat([*compared, self.matches(self.embedding, first, second)])
        return self.output(self.aggregate(features)), over_b, over_a


class Esim(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, E)
        self.encoder = nn.LSTM(E, H, batch_first=True, bidirectional=True)
        self.comparison = nn.Linear(8 * H, H)
        self.composition = nn.LSTM(H, H, batch_first=True, bidirectional=True)
        self.matches = MatchCounts()
        self.pooled, self.output = nn.Linear(8 * H + 6 * GATES, H), nn.Linear(H, 3)

    def one(self, first, second):
        a, b = (self.encoder(self.embedding(torch.tensor([ids])))[0][0] for ids in (first, second))
        over_b, over_a = (a @ b.T).softmax(1), (b @ a.T).softmax(1)
        pooled = []
        for x, aligned in (a, over_b @ b), (b, over_a @ a):
            y = self.composition(F.relu(self.comparison(torch.cat([x, aligned, x - aligned, x * aligned], -1)))[None])[0][0]
            pooled += [y.mean(0), y.amax(0)]
        features = torch.cat([*pooled, self.matches(self.embedding, first, second)])
        return self.output(torch.tanh(self.pooled(features))), over_b, over_a


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention, self.attention_norm = Attention(width), nn.LayerNorm(width)
        self.up, self.down, self.feed_forward_norm = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.LayerNorm(width)

    def forward(self, x):
        normed = self.attention_norm(x)
        q, k, v = (part(normed).view(len(x), self.heads, -1).transpose(0, 1)
                   for part in (self.attention.query, self.attention.key, self.attention.value))
        seen = (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(-1) @ v
        x = x + self.attention.output(seen.transpose(0, 1).reshape(len(x), -1))
        return x + self.down(F.gelu(self.up(self.feed_forward_norm(x))))


def positions(length, width):
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


class Reader(nn.Module):
    def __init__(self, width, transformer):
        super().__init__()
        self.transformer = transformer
        if transformer:
            self.input, self.layers = nn.Linear(width, 2 * H), nn.ModuleList(Block(2 * H, 2) for _ in range(2))
            self.norm = nn.LayerNorm(2 * H)
        else:
            self.recurrent = nn.GRU(width, H, batch_first=True, bidirectional=True)
        self.key, self.query = nn.Linear(2 * H, 2 * H), nn.Parameter(torch.randn(1, 2 * H))

    def forward(self, x):
        if self.transformer:
            states = self.input(x) + positions(len(x), 2 * H)
            for layer in self.layers:
                states = layer(states)
            states = self.norm(states)
        else:
            states = self.recurrent(x[None])[0][0]
        weights = (torch.tanh(self.key(states)) @ self.query[0]).softmax(0)
        return weights @ states, weights


class Hierarchical(nn.Module):
    def __init__(self, transformer):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, E)
        self.words, self.sentences = Reader(E, transformer), Reader(2 * H, transformer)
        self.output = nn.Linear(2 * H, 3)

    def one(self, *sentences):
        read = [self.words(self.embedding(torch.tensor(ids))) for ids in sentences]
        document, weights = self.sentences(torch.stack([vector for vector, _ in read]))
        return self.output(document), weights, torch.cat([words for _, words in read])


def golden(name, model, texts):
    def logits():
        return torch.stack([model.one(*text)[0] for text in texts])

    tensors = {"logits": logits()}
    for i, text in enumerate(texts):
        _, first, second = model.one(*text)
        tensors |= {f"{i}/first": first, f"{i}/second": second}
    parameters = dict(model.named_parameters())
    tensors |= {key: value.detach().clone() for key, value in parameters.items()}
    F.cross_entropy(logits(), LABELS).backward()
    tensors |= {f"d/{key}": value.grad.clone() for key, value in parameters.items()}
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1), []
    for _ in range(10):
        optimizer.zero_grad()
        loss = F.cross_entropy(logits(), LABELS)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {f"{name}/{key}": value for key, value in (tensors | {"losses": torch.tensor(losses)}).items()}


torch.manual_seed(0)
save("text_classifiers", golden("decomposable", Decomposable(), PAIRS) | golden("esim", Esim(), PAIRS)
     | golden("hierarchical", Hierarchical(False), DOCUMENTS)
     | golden("hierarchical-transformer", Hierarchical(True), DOCUMENTS))
