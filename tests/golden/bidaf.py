# BiDAF in PyTorch, with the parameter names of Attend: logits, both attentions, all gradients, and the losses of ten
# AdamW steps. Each question is read with its text alone, without padding.
import torch
from golden import save
from torch import nn
from torch.nn import functional as F

WORDS, E, H, BYTES, FILTERS, WIDTH = 17, 6, 5, 4, 7, 5
# Questions and texts: the id and the spelling of each word. Unknown words have the id 1.
PAIRS = [
    ([(2, "Who"), (3, "saw"), (1, "Zoë"), (4, "?")], [(1, "Zoë"), (5, "met"), (1, "Alexandra"), (6, "in"), (1, "Rome")]),
    ([(7, "when")], [(8, "In"), (1, "1066"), (9, "or"), (10, "later"), (11, "."), (7, "When"), (12, "incomprehensibility")]),
    ([(13, "a"), (14, "b"), (3, "saw"), (3, "Saw"), (15, "c"), (16, "d")], [(3, "saw"), (2, "who")]),
]
# The places of the first and the last word of the answer in question and text together; 0: no answer.
STARTS, ENDS = torch.tensor([6, 0, 7]), torch.tensor([7, 0, 7])
MATCH_BEGINNING = 5  # bytes


class Highway(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.transform, self.gate = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        gate = self.gate(x).sigmoid()
        return gate * F.relu(self.transform(x)) + (1 - gate) * x


class Bidaf(nn.Module):
    def __init__(self, spelling, match):
        super().__init__()
        self.spelling, self.match = spelling, match
        width, features = E + FILTERS * spelling, (3 if spelling else 1) * match
        self.embedding = nn.Embedding(WORDS, E)
        if spelling:
            self.bytes = nn.Embedding(257, BYTES)
            self.filters = nn.Linear(BYTES, WIDTH * FILTERS, bias=False)
            self.filters_bias = nn.Parameter(torch.randn(FILTERS))
        self.highway = nn.ModuleList(Highway(width) for _ in range(2))
        self.contextual = nn.LSTM(width + features, H, batch_first=True, bidirectional=True)
        self.text_similarity, self.question_similarity = (nn.Linear(2 * H, 1, bias=False) for _ in range(2))
        self.product_similarity = nn.Parameter(torch.randn(2 * H))
        if match:
            self.match_similarity = nn.Parameter(torch.randn(features, 1))
        self.modelling = nn.LSTM(8 * H, H, 2, batch_first=True, bidirectional=True)
        self.end_modelling = nn.LSTM(2 * H, H, batch_first=True, bidirectional=True)
        self.start, self.end = nn.Linear(10 * H, 1), nn.Linear(10 * H, 1)
        self.no_answer = nn.Parameter(torch.randn(2))

    def spell(self, word):
        """A convolution over the bytes with a border on each side; words shorter than the filters end in zeros."""
        ids = torch.tensor([0] + [byte + 1 for byte in word.encode()[:16]] + [0])
        x = F.pad(self.bytes(ids).T, (0, max(WIDTH - len(ids), 0)))
        kernel = self.filters.weight.view(WIDTH, FILTERS, BYTES).permute(1, 2, 0)
        return F.relu(F.conv1d(x[None], kernel, self.filters_bias)[0]).amax(1)

    def matches(self, words, others):
        """[words, others, features]"""
        keys = [lambda word: word[1] if self.spelling else word[0]]
        if self.spelling:
            keys += [lambda word: word[1].lower(), lambda word: word[1].lower().encode()[:MATCH_BEGINNING]]
        return torch.tensor([[[float(key(word) == key(other)) for key in keys] for other in others] for word in words])

    def read(self, words, other):
        x = self.embedding(torch.tensor([id for id, _ in words]))
        if self.spelling:
            x = torch.cat([x, torch.stack([self.spell(word) for _, word in words])], -1)
        for layer in self.highway:
            x = layer(x)
        if self.match:
            x = torch.cat([x, self.matches(words, other).amax(1)], -1)
        return self.contextual(x[None])[0][0]

    def one(self, question, text):
        h, u = self.read(text, question), self.read(question, text)
        w = torch.cat([self.text_similarity.weight[0], self.question_similarity.weight[0], self.product_similarity])
        T, J = len(h), len(u)
        hs, us = h[:, None].expand(T, J, -1), u[None].expand(T, J, -1)
        similarity = torch.cat([hs, us, hs * us], -1) @ w
        if self.match:
            similarity = similarity + (self.matches(text, question) @ self.match_similarity)[..., 0]
        to_question, to_text = similarity.softmax(1), similarity.amax(1).softmax(0)
        attended = to_question @ u
        g = torch.cat([h, attended, h * attended, h * (to_text @ h)], -1)
        m = self.modelling(g[None])[0][0]
        m_end = self.end_modelling(m[None])[0][0]
        start, end = self.start(torch.cat([g, m], -1))[:, 0], self.end(torch.cat([g, m_end], -1))[:, 0]
        return torch.cat([self.no_answer[:1], start]), torch.cat([self.no_answer[1:], end]), to_question, to_text


def loss_of(model):
    """The mean of both cross-entropies; the targets count from the first word of the question."""
    total = 0
    for (question, text), start, end in zip(PAIRS, STARTS, ENDS):
        starts, ends, _, _ = model.one(question, text)
        for logits, place in (starts, start), (ends, end):
            total = total + F.cross_entropy(logits, place if place == 0 else place - len(question) + 1)
    return total / len(PAIRS)


def golden(name, model):
    tensors = {}
    for i, pair in enumerate(PAIRS):
        for key, value in zip(("start", "end", "to_question", "to_text"), model.one(*pair)):
            tensors[f"{i}/{key}"] = value
    parameters = dict(model.named_parameters())
    tensors |= {key: value.detach().clone() for key, value in parameters.items()}
    loss_of(model).backward()
    tensors |= {f"d/{key}": value.grad.clone() for key, value in parameters.items()}
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1), []
    for _ in range(10):
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {f"{name}/{key}": value for key, value in (tensors | {"losses": torch.tensor(losses)}).items()}


torch.manual_seed(0)
save("bidaf", golden("full", Bidaf(True, True)) | golden("plain", Bidaf(False, True)) | golden("paper", Bidaf(True, False)))
