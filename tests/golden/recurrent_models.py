# Recurrent models in PyTorch, with the parameter names of Attend: translators with each kind of attention (logits,
# attention weights and all gradients), and classifiers with each kind of pooling.
import torch
from golden import save
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

SOURCE_WORDS, TARGET_WORDS, E, H, LAYERS, POSITIONS = 11, 13, 6, 5, 2, 9
SOURCE = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0], [8, 9, 10, 0, 0]])
LENGTHS = torch.tensor([5, 2, 3])
WORDS = torch.tensor([[1, 3, 5, 7], [2, 4, 6, 8], [9, 10, 11, 12]])
TARGETS = torch.tensor([[3, 5, 7, 2], [4, 6, 8, 2], [10, 11, 12, 2]])
OUTSIDE = torch.arange(SOURCE.shape[1])[None] >= LENGTHS[:, None]


def read(encoder, x):
    """States [B, S, E], zero in padding, and the last states of each layer and direction."""
    y, last = encoder(pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False))
    return pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])[0], last


class Additive(nn.Module):
    def __init__(self, query, key, hidden):
        super().__init__()
        self.query, self.key = nn.Linear(query, hidden, bias=False), nn.Linear(key, hidden, bias=False)
        self.v = nn.Parameter(torch.randn(hidden))

    def forward(self, query, states):
        return torch.tanh(self.query(query)[:, None] + self.key(states)) @ self.v


class General(nn.Module):
    def __init__(self, query, key):
        super().__init__()
        self.key = nn.Linear(key, query, bias=False)

    def forward(self, query, states):
        return (self.key(states) @ query[:, :, None]).squeeze(-1)


class Dot(nn.Module):
    def forward(self, query, states):
        return (states @ query[:, :, None]).squeeze(-1)


class Location(nn.Module):
    def __init__(self, query):
        super().__init__()
        self.position = nn.Linear(query, POSITIONS, bias=False)

    def forward(self, query, states):
        return self.position(query)[:, :states.shape[1]]


class Translator(nn.Module):
    def __init__(self, kind, attention):
        super().__init__()
        both = attention != "dot"
        width = 2 * H if both else H
        context = 0 if attention == "none" else width
        self.lstm, self.attention = kind is nn.LSTM, attention
        self.source_embedding, self.target_embedding = nn.Embedding(SOURCE_WORDS, E), nn.Embedding(TARGET_WORDS, E)
        self.encoder = kind(E, H, LAYERS, batch_first=True, bidirectional=both)
        self.decoder = kind(E + context, H, LAYERS, batch_first=True)
        self.bridge = nn.ModuleList(nn.Linear(width, H) for _ in range(LAYERS * (2 if self.lstm else 1)))
        self.score = {"none": nn.Identity, "additive": lambda: Additive(H, width, H), "dot": Dot,
                      "general": lambda: General(H, width), "location": lambda: Location(H)}[attention]()
        self.readout = nn.Linear(H + context + E, E)
        self.output = nn.Linear(E, TARGET_WORDS)

    def forward(self):
        states, last = read(self.encoder, self.source_embedding(SOURCE))
        by_layer = [torch.cat(list(one.view(LAYERS, -1, *one.shape[1:]).transpose(0, 1)), -1)
                    for one in (last if self.lstm else [last])]
        h = torch.stack([torch.tanh(self.bridge[i](by_layer[0][i])) for i in range(LAYERS)])
        state = (h, torch.stack([self.bridge[LAYERS + i](by_layer[1][i]) for i in range(LAYERS)])) if self.lstm else h
        said, looked = [], []
        for word in self.target_embedding(WORDS).unbind(1):
            context = []
            if self.attention != "none":
                scores = self.score((state[0] if self.lstm else state)[-1], states)
                looked.append(torch.softmax(scores.masked_fill(OUTSIDE, -torch.inf), -1))
                context = [(looked[-1][:, None] @ states).squeeze(1)]
            y, state = self.decoder(torch.cat([word, *context], -1)[:, None], state)
            said.append(self.output(torch.tanh(self.readout(torch.cat([y[:, 0], *context, word], -1)))))
        return torch.stack(said, 1), torch.stack(looked, 1) if looked else None


class Classifier(nn.Module):
    def __init__(self, pooling):
        super().__init__()
        self.pooling = pooling
        self.embedding = nn.Embedding(SOURCE_WORDS, E)
        self.encoder = nn.GRU(E, H, LAYERS, batch_first=True, bidirectional=True)
        if pooling == "attention":
            self.score = Additive(2 * H, 2 * H, H)
        self.output = nn.Linear(2 * H, 3)

    def forward(self):
        states, last = read(self.encoder, self.embedding(SOURCE))
        final = torch.cat([last[-2], last[-1]], -1)
        if self.pooling == "last":
            pooled = final
        elif self.pooling == "mean":
            pooled = states.sum(1) / LENGTHS[:, None]
        elif self.pooling == "max":
            pooled = states.masked_fill(OUTSIDE[:, :, None], -torch.inf).amax(1)
        else:
            weights = torch.softmax(self.score(final, states).masked_fill(OUTSIDE, -torch.inf), -1)
            pooled = (weights[:, None] @ states).squeeze(1)
        return self.output(pooled)


def trained(model, loss):
    loss.backward()
    parameters = dict(model.named_parameters())
    return {**parameters, **{f"d/{key}": value.grad for key, value in parameters.items()}}


def translator(kind, attention):
    model = Translator(kind, attention)
    logits, weights = model()
    tensors = {"logits": logits, **({} if weights is None else {"weights": weights}),
               **trained(model, F.cross_entropy(logits.flatten(0, 1), TARGETS.flatten()))}
    name = f"{attention}/{'lstm' if kind is nn.LSTM else 'gru'}"
    return {f"{name}/{key}": value for key, value in tensors.items()}


def classifier(pooling):
    model = Classifier(pooling)
    logits = model()
    tensors = {"logits": logits, **trained(model, F.cross_entropy(logits, torch.tensor([0, 2, 1])))}
    return {f"classifier/{pooling}/{key}": value for key, value in tensors.items()}


torch.manual_seed(0)
everything = {}
for attention in ["none", "additive", "dot", "general", "location"]:
    for kind in [nn.GRU, nn.LSTM]:
        everything |= translator(kind, attention)
for pooling in ["last", "mean", "max", "attention"]:
    everything |= classifier(pooling)
save("recurrent_models", everything)
