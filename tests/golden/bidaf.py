# BiDAF in PyTorch, with the parameter names of Attend: logits, both attentions, all gradients, and the losses of ten
# AdamW steps. Each question is read with its text alone, without padding.
import os

import torch
from golden import save
from torch import nn
from torch.nn import functional as F

WORDS, E, H, BYTES, FILTERS, WIDTH = 17, 6, 5, 4, 7, 5
# Questions and texts: the id and the spelling of each word. Unknown words have the id 1.
PAIRS = [
    ([(2, "Who"), (3, "saw"), (1, "Zoë"), (4, "?")], [(1, "Zoë"), (5, "met"), (1, "Alexandra"), (6, "in"), (1, "Rome")]),
    ([(7, "when")], [(8, "In"), (1, "1066"), (9, "or"), (10, "later"), (11, "."), (7, "When"), (12, "incomprehensibility")]),
    (
        [(13, "interesse"), (14, "b"), (3, "saw"), (3, "Saw"), (15, "ÈRA"), (16, "costruito")],
        [(3, "saw"), (2, "costruzione"), (5, "èra"), (6, "internazionale")],
    ),
]
# The places of the first and the last word of the answer in question and text together; 0: no answer.
STARTS, ENDS = torch.tensor([6, 0, 7]), torch.tensor([7, 0, 7])
# Words match if their beginnings are equal. Version 1: five bytes. Version 2: four letters and half of the longer word.
BEGINNING_BYTES, BEGINNING = 5, 4
REACHES = 3, 12  # of closeness, in words


class Highway(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.transform, self.gate = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        gate = self.gate(x).sigmoid()
        return gate * F.relu(self.transform(x)) + (1 - gate) * x


class Bidaf(nn.Module):
    def __init__(self, spelling, match, version=1, summary=False):
        super().__init__()
        self.spelling, self.match, self.version = spelling, match, version
        close = len(REACHES) * (version > 1)
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
        self.importance = nn.Linear(2 * H, 1) if version > 1 else None
        self.summary = nn.Linear(2 * H, 1) if summary else None
        if summary:
            self.question_start, self.question_end = (nn.Linear(2 * H, 2 * H, bias=False) for _ in range(2))
        self.modelling = nn.LSTM(8 * H + close, H, 2, batch_first=True, bidirectional=True)
        self.end_modelling = nn.LSTM(2 * H, H, batch_first=True, bidirectional=True)
        self.start, self.end = nn.Linear(10 * H + close, 1), nn.Linear(10 * H + close, 1)
        self.no_answer = nn.Parameter(torch.randn(2))

    def spell(self, word):
        """A convolution over the bytes with a border on each side; words shorter than the filters end in zeros."""
        ids = torch.tensor([0] + [byte + 1 for byte in word.encode()[:16]] + [0])
        x = F.pad(self.bytes(ids).T, (0, max(WIDTH - len(ids), 0)))
        kernel = self.filters.weight.view(WIDTH, FILTERS, BYTES).permute(1, 2, 0)
        return F.relu(F.conv1d(x[None], kernel, self.filters_bias)[0]).amax(1)

    def matches(self, words, others):
        """[words, others, features]"""

        def lower(word):  # version 1 has only the lower case of ASCII
            return word[1].encode().lower() if self.version == 1 else word[1].lower()

        def same_beginning(a, b):
            a, b = lower(a), lower(b)
            if self.version == 1:
                return a[:BEGINNING_BYTES] == b[:BEGINNING_BYTES]
            common = len(os.path.commonprefix([a, b]))
            return a == b or (common >= BEGINNING and 2 * common >= max(len(a), len(b)))

        tests = [lambda a, b: a[1] == b[1], lambda a, b: lower(a) == lower(b), same_beginning]
        if not self.spelling:
            tests = [lambda a, b: a[0] == b[0]]
        return torch.tensor([[[float(test(word, other)) for test in tests] for other in others] for word in words])

    def closeness(self, text, question):
        """[text, reaches, question]: how close each word is to a match of each word of the question"""
        found = self.matches(text, question)[..., -1]  # [text, question]
        distance = (torch.arange(len(text))[:, None] - torch.arange(len(text))).abs()
        near = [((-distance / reach).exp()[:, :, None] * found).amax(1) for reach in REACHES]
        return torch.stack(near, 1)

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
        if self.importance:
            g = torch.cat([g, self.closeness(text, question) @ self.importance(u)[:, 0].softmax(0)], -1)
        m = self.modelling(g[None])[0][0]
        m_end = self.end_modelling(m[None])[0][0]
        start, end = self.start(torch.cat([g, m], -1))[:, 0], self.end(torch.cat([g, m_end], -1))[:, 0]
        if self.summary:
            asked = self.summary(u)[:, 0].softmax(0) @ u
            start, end = start + m @ self.question_start(asked), end + m_end @ self.question_end(asked)
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
networks = {"full": Bidaf(True, True), "plain": Bidaf(False, True), "paper": Bidaf(True, False)}
networks["close"] = Bidaf(True, True, version=2, summary=True)
networks["close_plain"] = Bidaf(False, True, version=2)
save("bidaf", {key: value for name, network in networks.items() for key, value in golden(name, network).items()})
