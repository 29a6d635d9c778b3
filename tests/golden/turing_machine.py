# Neural Turing Machines, a Differentiable Neural Computer and an LSTM in PyTorch, step by step from the papers' equations,
# with the parameter names of Attend: logits, weights of the heads, all gradients, and the parameters after ten steps of
# Adam with clipped gradients.
import torch
from golden import save
from torch import nn
from torch.nn import functional as F

BATCH, STEPS, INPUTS, OUTPUTS, HIDDEN, EPS = 3, 7, 4, 3, 6, 1e-4


def content(memory, key, strength):
    """memory [B, N, W], key [B, W], strength [B] -> [B, N]"""
    dot = torch.einsum("bnw,bw->bn", memory, key)
    norms = (memory.square().sum(-1) + EPS).sqrt() * (key.square().sum(-1) + EPS).sqrt()[:, None]
    return torch.softmax(strength[:, None] * dot / norms, -1)


def philox(seed, stream, counter):
    """Philox4x32-10 (Salmon et al. 2011) with 32-bit seed, stream and counter -> four 32-bit numbers"""
    c, k, mask = [counter, 0, stream, 0], [seed, 0], 0xFFFFFFFF
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & mask, (p0 >> 32) ^ c[3] ^ k[1], p0 & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


class Ntm:
    def __init__(self, slots, width, reads, writes, shifts, address=0):
        self.slots, self.width, self.reads, self.writes, self.shifts = slots, width, reads, writes, shifts
        self.heads, self.written = reads + writes, width - address
        self.interface = self.heads * (width + 3 + shifts) + 2 * writes * self.written
        # The address of a slot: numbers with a variance of 1 that depend only on its index.
        uniform = [[(philox(2014, i, m // 4)[m % 4] >> 8) / 2**24 for m in range(address)] for i in range(slots)]
        self.addresses = 3**0.5 * (2 * torch.tensor(uniform).view(slots, address) - 1)

    def start(self, batch):
        first = F.one_hot(torch.zeros(batch, dtype=torch.long), self.slots).float()
        empty = torch.full((self.slots, self.written), 1e-6)
        return torch.cat([self.addresses, empty], 1).expand(batch, -1, -1), [first] * self.heads

    def address(self, head, memory, before):
        w = self.width
        key, strength, gate = torch.tanh(head[:, :w]), F.softplus(head[:, w]), torch.sigmoid(head[:, w + 1])
        sharpness, shift = 1 + F.softplus(head[:, w + 2]), torch.softmax(head[:, w + 3:], -1)
        mixed = gate[:, None] * content(memory, key, strength) + (1 - gate[:, None]) * before
        half = self.shifts // 2
        moved = sum(shift[:, o + half, None] * mixed.roll(o, 1) for o in range(-half, half + 1)) + 1e-16
        power = moved ** sharpness[:, None]
        return power / power.sum(-1, keepdim=True)

    def step(self, interface, state):
        memory, weights = state
        heads, written = interface.split([self.heads * (self.width + 3 + self.shifts), 2 * self.writes * self.written], 1)
        heads, written = heads.chunk(self.heads, 1), written.chunk(2 * self.writes, 1)
        writing = [self.address(heads[h], memory, weights[h]) for h in range(self.reads, self.heads)]
        kept, added = 1, 0
        for i, w in enumerate(writing):
            kept = kept * (1 - w[:, :, None] * torch.sigmoid(written[2 * i])[:, None])
            added = added + w[:, :, None] * torch.tanh(written[2 * i + 1])[:, None]
        address, content = memory.split([self.width - self.written, self.written], 2)
        memory = torch.cat([address, content * kept + added], 2)
        reading = [self.address(heads[h], memory, weights[h]) for h in range(self.reads)]
        read = [torch.einsum("bn,bnw->bw", w, memory) for w in reading]
        return torch.cat(read, 1), (memory, reading + writing), reading, writing


class Dnc:
    def __init__(self, slots, width, reads):
        self.slots, self.width, self.reads, self.writes = slots, width, reads, 1
        self.interface = reads * width + 3 * width + 5 * reads + 3

    def start(self, batch):
        zeros = torch.zeros(batch, self.slots)
        return (torch.zeros(batch, self.slots, self.width), [zeros] * self.reads, zeros, zeros, zeros,
                torch.zeros(batch, self.slots, self.slots))

    def step(self, interface, state):
        memory, reading, writing, usage, precedence, links = state
        w, r = self.width, self.reads
        keys, strengths, key, strength, erase, vector, free, allocate, gate, modes = interface.split(
            [r * w, r, w, 1, w, w, r, 1, 1, 3 * r], 1)
        free = torch.sigmoid(free)
        usage = usage + writing - usage * writing
        for i in range(r):
            usage = usage * (1 - free[:, i, None] * reading[i])
        ordered, order = usage.sort(dim=-1, stable=True)
        products = torch.cat([torch.ones_like(ordered[:, :1]), ordered.cumprod(-1)[:, :-1]], 1)
        allocation = torch.zeros_like(usage).scatter(1, order, (1 - ordered) * products)
        allocate, gate = torch.sigmoid(allocate), torch.sigmoid(gate)
        found = content(memory, key, 1 + F.softplus(strength[:, 0]))
        writing = gate * (allocate * allocation + (1 - allocate) * found)
        memory = memory * (1 - writing[:, :, None] * torch.sigmoid(erase)[:, None]) + writing[:, :, None] * vector[:, None]
        links = (1 - writing[:, :, None] - writing[:, None]) * links + writing[:, :, None] * precedence[:, None]
        links = links * (1 - torch.eye(self.slots))
        precedence = (1 - writing.sum(-1, keepdim=True)) * precedence + writing
        now = []
        for i in range(r):
            mode = torch.softmax(modes[:, 3 * i:3 * i + 3], -1)
            forward = torch.einsum("bij,bj->bi", links, reading[i])
            backward = torch.einsum("bij,bi->bj", links, reading[i])
            by_content = content(memory, keys[:, i * w:(i + 1) * w], 1 + F.softplus(strengths[:, i]))
            now.append(mode[:, :1] * backward + mode[:, 1:2] * by_content + mode[:, 2:] * forward)
        read = [torch.einsum("bn,bnw->bw", one, memory) for one in now]
        return torch.cat(read, 1), (memory, now, writing, usage, precedence, links), now, [writing]


class Machine(nn.Module):
    def __init__(self, memory, lstm):
        super().__init__()
        self.memory, self.lstm = memory, lstm
        gates, reads = (4 if lstm else 1) * HIDDEN, memory.reads * memory.width
        self.controller = nn.ParameterDict({
            "weight_ih": nn.Parameter(torch.randn(gates, INPUTS) * 0.5),
            "weight_hh": nn.Parameter(torch.randn(gates, reads + (HIDDEN if lstm else 0)) * 0.5),
            "bias": nn.Parameter(torch.randn(gates) * 0.5)})
        self.interface = nn.Linear(HIDDEN, memory.interface)
        nn.init.normal_(self.interface.weight, 0, 0.8)
        self.output = nn.Linear(HIDDEN + reads, OUTPUTS)

    def forward(self, x):
        state = self.memory.start(len(x))
        h = c = torch.zeros(len(x), HIDDEN)
        read = torch.zeros(len(x), self.memory.reads * self.memory.width)
        outputs, reading, writing = [], [], []
        for t in range(x.shape[1]):
            before = torch.cat([h, read], 1) if self.lstm else read
            gates = F.linear(x[:, t], self.controller["weight_ih"], self.controller["bias"]) + F.linear(
                before, self.controller["weight_hh"])
            if self.lstm:
                i, f, g, o = gates.chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            else:
                h = torch.tanh(gates)
            read, state, r, w = self.memory.step(self.interface(h), state)
            outputs.append(self.output(torch.cat([h, read], 1)))
            reading.append(torch.stack(r, 1)), writing.append(torch.stack(w, 1))
        return torch.stack(outputs, 1), torch.stack(reading, 2), torch.stack(writing, 2)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.output = nn.LSTM(INPUTS, HIDDEN, 2, batch_first=True), nn.Linear(HIDDEN, OUTPUTS)

    def forward(self, x):
        return self.output(self.lstm(x)[0]), None, None


def main():
    torch.manual_seed(2014)
    x = torch.randn(BATCH, STEPS, INPUTS)
    target = (torch.rand(BATCH, STEPS, OUTPUTS) < 0.5).float()
    all = {"x": x, "target": target.int()}
    models = {"ntm_lstm": lambda: Machine(Ntm(9, 5, 2, 1, 3), True),
              "ntm_feed_forward": lambda: Machine(Ntm(16, 4, 1, 2, 3), False),
              "dnc_lstm": lambda: Machine(Dnc(9, 5, 2), True),
              "dnc_feed_forward": lambda: Machine(Dnc(8, 4, 1), False),
              "lstm": Lstm,
              "ntm_address": lambda: Machine(Ntm(9, 7, 2, 2, 3, address=5), True)}
    for name, make in models.items():
        model = make()
        for key, value in model.named_parameters():
            all[f"{name}/start/{key}"] = value.detach().clone()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for step in range(10):
            logits, reading, writing = model(x)
            loss = F.binary_cross_entropy_with_logits(logits, target)
            optimizer.zero_grad()
            loss.backward()
            if step == 0:
                all[f"{name}/logits"], all[f"{name}/loss"] = logits.detach(), loss.detach()
                if reading is not None:
                    all[f"{name}/read"], all[f"{name}/write"] = reading.detach(), writing.detach()
                for key, value in model.named_parameters():
                    all[f"{name}/grad/{key}"] = value.grad.clone()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
        for key, value in model.named_parameters():
            all[f"{name}/end/{key}"] = value.detach().clone()
        all[f"{name}/end_loss"] = loss.detach()
    save("turing_machine", all)


main()
