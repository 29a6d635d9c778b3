"""The PyTorch peer of turing_bench.cpp: the same loops, written with batched operations over all heads."""
import torch
from torch import nn
from torch.nn import functional as F
from torch_job import job, serve

BATCH, STEPS, INPUTS, OUTPUTS, HIDDEN, WIDTH = 16, 41, 9, 8, 100, 20


def content(memory, unit, keys, strengths):
    """memory [B, N, W], its unit rows, keys [B, H, W], strengths [B, H, 1] -> [B, H, N]"""
    return torch.softmax(strengths * (F.normalize(keys, dim=-1) @ unit.transpose(1, 2)), -1)


class Ntm(nn.Module):
    def __init__(self, slots, heads):
        super().__init__()
        self.slots, self.heads = slots, heads
        self.cell = nn.LSTMCell(INPUTS + heads * WIDTH, HIDDEN)
        self.interface = nn.Linear(HIDDEN, 2 * heads * (WIDTH + 6) + 2 * heads * WIDTH)
        self.output = nn.Linear(HIDDEN + heads * WIDTH, OUTPUTS)

    def address(self, heads, memory, before):
        key, strength, gate, sharpness, shift = heads.split([WIDTH, 1, 1, 1, 3], -1)
        unit = F.normalize(memory, dim=-1, eps=1e-4)
        found = content(memory, unit, torch.tanh(key), F.softplus(strength))
        gate, shift = torch.sigmoid(gate), torch.softmax(shift, -1)
        mixed = gate * found + (1 - gate) * before
        moved = mixed.roll(-1, -1) * shift[..., :1] + mixed * shift[..., 1:2] + mixed.roll(1, -1) * shift[..., 2:]
        power = (moved + 1e-16) ** (1 + F.softplus(sharpness))
        return power / power.sum(-1, keepdim=True)

    def forward(self, x):
        B, H, N = len(x), self.heads, self.slots
        memory = torch.full((B, N, WIDTH), 1e-6)
        reading = writing = F.one_hot(torch.zeros(B, H, dtype=torch.long), N).float()
        read, state, outputs = torch.zeros(B, H * WIDTH), None, []
        for step in x.unbind(1):
            state = self.cell(torch.cat([step, read], 1), state)
            heads, written = self.interface(state[0]).split([2 * H * (WIDTH + 6), 2 * H * WIDTH], 1)
            heads = heads.view(B, 2 * H, WIDTH + 6)
            erase, add = written.view(B, 2, H, WIDTH).unbind(1)
            writing = self.address(heads[:, H:], memory, writing)
            erased = writing[..., None] * torch.sigmoid(erase)[:, :, None]
            kept = 1 - erased[:, 0] if H == 1 else (1 - erased).prod(1)
            memory = memory * kept + writing.transpose(1, 2) @ torch.tanh(add)
            reading = self.address(heads[:, :H], memory, reading)
            read = (reading @ memory).flatten(1)
            outputs.append(torch.cat([state[0], read], 1))
        return self.output(torch.stack(outputs, 1))


class Dnc(nn.Module):
    def __init__(self, slots):
        super().__init__()
        self.slots = slots
        self.cell = nn.LSTMCell(INPUTS + WIDTH, HIDDEN)
        self.interface = nn.Linear(HIDDEN, 4 * WIDTH + 8)
        self.output = nn.Linear(HIDDEN + WIDTH, OUTPUTS)

    def forward(self, x):
        B, N = len(x), self.slots
        memory, links, off = torch.zeros(B, N, WIDTH), torch.zeros(B, N, N), 1 - torch.eye(N)
        reading = writing = usage = precedence = torch.zeros(B, N)
        read, state, outputs = torch.zeros(B, WIDTH), None, []
        for step in x.unbind(1):
            state = self.cell(torch.cat([step, read], 1), state)
            key, strength, write_key, write_strength, erase, vector, free, allocate, gate, modes = self.interface(
                state[0]).split([WIDTH, 1, WIDTH, 1, WIDTH, WIDTH, 1, 1, 1, 3], 1)
            usage = (usage + writing - usage * writing) * (1 - torch.sigmoid(free) * reading)
            ordered, order = usage.sort(-1)
            products = torch.cat([torch.ones(B, 1), ordered.cumprod(-1)[:, :-1]], 1)
            allocation = torch.zeros(B, N).scatter(1, order, (1 - ordered) * products)
            allocate = torch.sigmoid(allocate)
            unit = F.normalize(memory, dim=-1, eps=1e-4)
            found = content(memory, unit, write_key[:, None], 1 + F.softplus(write_strength)[:, None])[:, 0]
            writing = torch.sigmoid(gate) * (allocate * allocation + (1 - allocate) * found)
            w = writing[:, :, None]
            memory = memory * (1 - w * torch.sigmoid(erase)[:, None]) + w * vector[:, None]
            links = ((1 - w - writing[:, None]) * links + w * precedence[:, None]) * off
            precedence = (1 - writing.sum(-1, keepdim=True)) * precedence + writing
            unit = F.normalize(memory, dim=-1, eps=1e-4)
            found = content(memory, unit, key[:, None], 1 + F.softplus(strength)[:, None])[:, 0]
            modes = torch.softmax(modes, -1)
            ahead, back = (links @ reading[:, :, None])[:, :, 0], (reading[:, None] @ links)[:, 0]
            reading = modes[:, :1] * back + modes[:, 1:2] * found + modes[:, 2:] * ahead
            read = (reading[:, None] @ memory)[:, 0]
            outputs.append(torch.cat([state[0], read], 1))
        return self.output(torch.stack(outputs, 1))


def step(model):
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.rand(BATCH, STEPS, INPUTS)
    target = (torch.arange(BATCH * STEPS * OUTPUTS) % 2).float().view(BATCH, STEPS, OUTPUTS)

    def run():
        F.binary_cross_entropy_with_logits(model(x), target).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return run


@job("ntm.16x41.lstm100.128x20.step")
def _():
    return step(Ntm(128, 1))


@job("ntm.16x41.lstm100.128x20.4_heads.step")
def _():
    return step(Ntm(128, 4))


@job("dnc.16x41.lstm100.64x20.step")
def _():
    return step(Dnc(64))


serve()
