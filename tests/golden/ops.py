"""Golden values of every op, from PyTorch in double precision: writes ops.safetensors.

To add an op, add one line here, and one line with the same name in tests/ops/ops_test.cpp. A line has the form
    op("name", function of tensors, [inputs of an example], [inputs of another], ...)
Inputs are descriptions, not tensors, so that the values of an op depend only on its own line: x(…) is normal, apart(…)
has no two elements close to each other or to zero (for functions that are not differentiable there), positive(…) is
positive, ids(bound, …) are integers, const([…]) are given values. Examples should have odd shapes: 1, primes, empty.
Functions may return several results. Needs PyTorch: python3 tests/golden/ops.py
"""
import zlib

import torch
import torch.nn.functional as F

import golden

tensors = {}


def x(*shape, scale=1.0):
    return lambda g: torch.randn(shape, generator=g) * scale


def positive(*shape):
    return lambda g: torch.rand(shape, generator=g) + 0.5


def apart(*shape):
    def make(g):
        n = torch.Size(shape).numel()
        values = torch.linspace(0.1, 3, n) * (torch.arange(n) % 2 * 2 - 1)
        return values[torch.randperm(n, generator=g)].reshape(shape)
    return make


def ids(bound, *shape):
    return lambda g: torch.randint(0, bound, shape, generator=g)


def mask(*shape):
    return lambda g: torch.rand(shape, generator=g) < 0.5


def const(values):
    return lambda g: torch.tensor(values)


def op(name, function, *examples):
    for number, example in enumerate(examples):
        g = torch.Generator().manual_seed(zlib.crc32(f"{name}/{number}".encode()))
        inputs = [make(g) for make in example]
        leaves = [i.float().double().requires_grad_() if i.is_floating_point() else i for i in inputs]
        results = function(*leaves)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        weights = [torch.randn(r.shape, generator=g) for r in results]
        key = f"{name}/{number}/"
        for i, leaf in enumerate(leaves):
            tensors[f"{key}in{i}"] = leaf
        for i, (result, weight) in enumerate(zip(results, weights)):
            tensors[f"{key}out{i}"] = result
            if result.requires_grad:
                tensors[f"{key}dout{i}"] = weight
        loss = sum((r * w.double()).sum() for r, w in zip(results, weights) if r.requires_grad)
        if isinstance(loss, torch.Tensor):
            loss.backward()
        for i, leaf in enumerate(leaves):
            if leaf.requires_grad:
                tensors[f"{key}din{i}"] = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


# ---- arithmetic: same shape, row vector, scalar, middle and leading ones, both operands broadcast ----
shapes = [[(3, 7), (3, 7)], [(2, 3, 5), (5,)], [(2, 3, 5), ()], [(2, 3, 5), (2, 1, 5)], [(1, 2, 1, 5), (3, 1, 7, 1)],
          [(11, 1), (11, 19)], [(0, 3), (3,)]]
op("add", torch.add, *[[x(*a), x(*b)] for a, b in shapes])
op("sub", torch.sub, *[[x(*a), x(*b)] for a, b in shapes])
op("mul", torch.mul, *[[x(*a), x(*b)] for a, b in shapes])
op("div", torch.div, *[[x(*a), positive(*b)] for a, b in shapes])
op("affine", lambda a: 1.5 * a - 0.25, [x(1)], [x(3, 7)], [x(0)])
op("one over", lambda a: 2 / a, [positive(3, 7)])
op("negate", torch.neg, [x(13)])
op("exp", torch.exp, [x(1)], [x(3, 7)], [x(0, 2)])
op("log", torch.log, [positive(3, 7)])
op("sqrt", torch.sqrt, [positive(3, 7)])
op("square", torch.square, [x(3, 7)])

# ---- reductions ----
op("sum of all", lambda a: a.sum(), [x(3, 7)], [x()], [x(0)])
op("mean of all", lambda a: a.mean(), [x(3, 7)], [x(1)])
op("max of all", lambda a: a.max(), [apart(3, 7)], [x(1)])
op("sum 0", lambda a: a.sum(0), [x(5)], [x(5, 3)], [x(2, 3, 5)], [x(0, 3)])
op("sum 1 keep", lambda a: a.sum(1, keepdim=True), [x(2, 3, 5)], [x(2, 0, 5)], [x(1, 1)])
op("mean -1", lambda a: a.mean(-1), [x(7)], [x(2, 3, 5)], [x(0, 3)])
op("max 1", lambda a: a.amax(1), [apart(2, 7)], [apart(2, 5, 3)], [x(3, 1)])
op("argmax", lambda a: a.argmax(-1), [x(3, 7)], [x(3, 1)], [x(0, 2)])


def steps(a, lengths):
    return [a[b, :n] for b, n in enumerate(lengths.tolist())]


op("sum of lengths", lambda a, n: torch.stack([r.sum(0) for r in steps(a, n)]),
   [x(3, 5, 7), const([5, 0, 2])], [x(1, 1, 1), const([1])])
op("mean of lengths", lambda a, n: torch.stack([r.sum(0) / max(len(r), 1) for r in steps(a, n)]),
   [x(3, 5, 7), const([5, 0, 2])])
op("max of lengths", lambda a, n: torch.stack([r.amax(0) if len(r) else r.sum(0) for r in steps(a, n)]),
   [apart(3, 5, 3), const([5, 0, 2])])

# ---- movement ----
op("embedding", lambda t, i: F.embedding(i, t), [x(5, 3), ids(5, 7)], [x(3, 1), ids(3, 2, 3)],
   [x(2, 3), ids(2, 0)], [x(7, 5), ids(7, 2, 1, 3)])
op("embedding scaled padded", lambda t, i: 2.5 * F.embedding(i, t, padding_idx=1), [x(4, 3), const([[1, 0, 1], [2, 2, 3]])])
op("concat 0", lambda a, b: torch.cat([a, b], 0), [x(2, 3), x(1, 3)], [x(5), x(0)])
op("concat -1", lambda a, b, c: torch.cat([a, b, c], -1), [x(2, 3), x(2, 1), x(2, 5)], [x(2, 3, 1), x(2, 3, 0), x(2, 3, 2)])
op("split", lambda a: torch.split(a, [2, 0, 3], 1), [x(3, 5)], [x(2, 5, 3)])
op("split in two", lambda a: torch.chunk(a, 2, -1), [x(3, 6)], [x(2, 1, 2)])
op("slice", lambda a: a[:, 1:4], [x(2, 5)], [x(3, 4, 2)])
op("gather", lambda a, i: a[torch.arange(len(i)), i], [x(3, 5, 2), const([4, 0, 2])], [x(2, 3), const([2, 0])])
op("gather several", lambda a, i: a[torch.arange(len(i))[:, None], i], [x(2, 5, 3), const([[4, 0, 4], [1, 1, 1]])])
op("index_select", lambda a, i: a.index_select(1, i), [x(2, 5, 3), const([4, 0, 4, 1])], [x(3, 2), ids(2, 0)])
op("transpose", lambda a: a.transpose(1, -1), [x(3, 5)], [x(2, 3, 5)], [x(2, 3, 5, 2)], [x(1, 17, 19)], [x(2, 0, 3)])
op("transpose 0 2", lambda a: a.transpose(0, 2), [x(2, 3, 5)], [x(2, 3, 5, 2)])
op("where", torch.where, [mask(3, 7), x(3, 7), x(3, 7)], [mask(2, 1, 5), x(2, 3, 5), x(2, 3, 5)], [mask(3, 1), x(3, 19), x(3, 19)])
op("masked_fill", lambda a, m: a.masked_fill(m, -3.0), [x(3, 7), mask(3, 7)], [x(2, 3, 5), mask(5)], [x(2, 0), mask(1)])

# ---- rows ----
op("softmax", lambda a: a.softmax(-1), [x(1)], [x(3, 7)], [x(2, 3, 19)], [x(0, 3)])
op("log_softmax", lambda a: a.log_softmax(-1), [x(1)], [x(3, 7)], [x(2, 3, 19)], [x(0, 3)])


def masked_softmax(a, lengths):
    keys = torch.arange(a.shape[-1]) < lengths.reshape(lengths.shape + (1,) * (a.dim() - lengths.dim()))
    return torch.where(keys, a.masked_fill(~keys, -1e30).softmax(-1), 0.0)


op("masked_softmax", masked_softmax, [x(3, 2, 5), const([5, 0, 2])], [x(2, 2, 3), const([[1, 3], [0, 2]])])
op("layer_norm", lambda a, w, b: F.layer_norm(a, a.shape[-1:], w, b), [x(3, 7), x(7), x(7)], [x(2, 3, 19), x(19), x(19)],
   [x(0, 5), x(5), x(5)])


def add_layer_norm(a, r, w, b):
    return a + r, F.layer_norm(a + r, a.shape[-1:], w, b, eps=1e-12)


op("add_layer_norm", add_layer_norm, [x(3, 7), x(3, 7), x(7), x(7)], [x(2, 3, 5), x(2, 3, 5), x(5), x(5)])
op("layer_norm without bias", lambda a, w: F.layer_norm(a, a.shape[-1:], w), [x(3, 7), x(7)], [x(2, 3, 19), x(19)])
op("add_layer_norm without bias", lambda a, r, w: (a + r, F.layer_norm(a + r, a.shape[-1:], w)), [x(3, 7), x(3, 7), x(7)])
op("rms_norm", lambda a, w: F.rms_norm(a, a.shape[-1:], w, eps=1e-6), [x(3, 7), x(7)], [x(2, 3, 19), x(19)], [x(2, 1), x(1)],
   [x(0, 5), x(5)])
op("add_rms_norm", lambda a, r, w: (a + r, F.rms_norm(a + r, a.shape[-1:], w, eps=1e-3)), [x(3, 7), x(3, 7), x(7)],
   [x(2, 3, 5), x(2, 3, 5), x(5)])
activations = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda a: F.gelu(a, approximate="tanh"), "silu": F.silu,
               "tanh": torch.tanh, "sigmoid": torch.sigmoid}
for name, function in activations.items():
    op(name, function, [apart(3, 7)], [apart(1)], [x(0, 3)])
for name, function in activations.items():
    op(f"gated {name}", lambda a, f=function: f(a.chunk(2, -1)[0]) * a.chunk(2, -1)[1], [apart(3, 10)], [x(1, 2)], [x(0, 6)])
op("cross_entropy", lambda a, t: F.cross_entropy(a, t), [x(3, 7), ids(7, 3)], [x(1, 1), ids(1, 1)], [x(5, 19), ids(19, 5)])
op("cross_entropy smoothed ignoring", lambda a, t: F.cross_entropy(a, t, label_smoothing=0.1, ignore_index=2),
   [x(5, 7), const([1, 2, 0, 2, 6])])
op("cross_entropy none", lambda a, t: F.cross_entropy(a, t, reduction="none"), [x(3, 7), ids(7, 3)], [x(0, 3), ids(3, 0)])
op("cross_entropy sum", lambda a, t: F.cross_entropy(a, t, reduction="sum"), [x(3, 7), ids(7, 3)])


# ---- rotary positions: two heads of 5 features, of which 4 are rotated; features after the heads are not rotated ----
def rotate(a, positions, to_complex, from_complex):
    angles = positions.double()[..., None] * 100.0 ** (-torch.arange(0, 4, 2).double() / 4)
    turns = torch.polar(torch.ones_like(angles), angles)
    heads = []
    for start in (0, 5):
        rotated = from_complex(to_complex(a[..., start:start + 4]) * turns)
        heads += [rotated, a[..., start + 4:start + 5]]
    return torch.cat(heads + [a[..., 10:]], -1)


def rotate_halves(a, positions):
    return rotate(a, positions, lambda h: torch.complex(h[..., :2], h[..., 2:]), lambda z: torch.cat([z.real, z.imag], -1))


def rotate_interleaved(a, positions):
    return rotate(a, positions, lambda h: torch.complex(h[..., ::2], h[..., 1::2]),
                  lambda z: torch.stack([z.real, z.imag], -1).flatten(-2))


rotations = [[x(3, 10), ids(11, 3)], [x(2, 3, 17), ids(11, 2, 3)], [x(1, 11), const([10])], [x(0, 10), ids(11, 0)]]
op("rotate halves", rotate_halves, *rotations)
op("rotate interleaved", rotate_interleaved, *rotations)

# ---- products ----
op("linear", F.linear, [x(3, 7), x(5, 7), x(5)], [x(2, 3, 5), x(1, 5), x(1)], [x(1, 1), x(1, 1), x(1)], [x(0, 3), x(2, 3), x(2)])
op("linear without bias", F.linear, [x(3, 7), x(5, 7)])
for name, function in activations.items():
    op(f"linear {name}", lambda a, w, b, f=function: f(F.linear(a, w, b)), [apart(3, 4), x(5, 4), x(5)])
op("matmul", torch.matmul, [x(3, 5), x(5, 7)], [x(2, 3, 5), x(2, 5, 1)], [x(2, 3, 5), x(5, 7)], [x(1, 1), x(1, 1)],
   [x(0, 3), x(3, 2)], [x(2, 0), x(0, 3)])
op("matmul aT", lambda a, b: a.mT @ b, [x(5, 3), x(5, 7)], [x(2, 5, 3), x(2, 5, 1)])
op("matmul bT", lambda a, b: a @ b.mT, [x(3, 5), x(7, 5)], [x(2, 3, 5), x(2, 1, 5)])
op("matmul aT bT", lambda a, b: a.mT @ b.mT, [x(5, 3), x(7, 5)], [x(2, 5, 3), x(2, 1, 5)])
op("conv1d", lambda a, w, b: F.conv1d(a, w, b, stride=2, padding=1), [x(2, 3, 7), x(5, 3, 3), x(5)], [x(1, 1, 5), x(1, 1, 2), x(1)])
op("conv2d", lambda a, w, b: F.conv2d(a, w, b, padding=(1, 0), dilation=(1, 2), groups=2),
   [x(2, 2, 5, 7), x(4, 1, 3, 2), x(4)])


# ---- recurrences ----
def recurrence(kind, reverse=False):
    def run(a, w_ih, w_hh, b_ih, b_hh, h0, c0, lengths):
        cell = getattr(torch, kind + "_cell")
        outputs, last_h, last_c = [], [], []
        for b, length in enumerate(lengths.tolist()):
            h, c = h0[b:b + 1], c0[b:b + 1]
            y = [torch.zeros_like(h[0])] * a.shape[1]
            for t in (reversed(range(length)) if reverse else range(length)):
                step = (a[b:b + 1, t], (h, c) if kind == "lstm" else h, w_ih, w_hh, b_ih, b_hh)
                h, c = cell(*step) if kind == "lstm" else (cell(*step), c)
                y[t] = h[0]
            outputs.append(torch.stack(y)), last_h.append(h[0]), last_c.append(c[0])
        results = [torch.stack(outputs), torch.stack(last_h)]
        return results + [torch.stack(last_c)] if kind == "lstm" else results
    return run


def recurrent_inputs(batch, steps, inputs, hidden, gates, lengths):
    rows = gates * hidden
    return [x(batch, steps, inputs), x(rows, inputs, scale=0.5), x(rows, hidden, scale=0.5), x(rows), x(rows),
            x(batch, hidden), x(batch, hidden), const(lengths)]


op("gru", recurrence("gru"), recurrent_inputs(3, 4, 5, 3, 3, [4, 0, 2]), recurrent_inputs(1, 1, 1, 1, 3, [1]))
op("gru reversed", recurrence("gru", True), recurrent_inputs(2, 3, 2, 5, 3, [3, 2]))
op("lstm", recurrence("lstm"), recurrent_inputs(3, 4, 5, 3, 4, [4, 0, 2]), recurrent_inputs(1, 1, 1, 1, 4, [1]))
op("lstm reversed", recurrence("lstm", True), recurrent_inputs(2, 3, 2, 5, 4, [3, 2]))


# ---- scores ----
def additive_scores(q, k, v):
    return torch.tanh(q[:, :, None] + k[:, None]) @ v


def within(scores, lengths):
    return torch.where(torch.arange(scores.shape[-1]) < lengths[:, None, None], scores, 0.0)


def circular_convolution(w, s):
    half = s.shape[1] // 2
    return sum(s[:, half + o, None] * w.roll(o, 1) for o in range(-half, half + 1))


op("additive_scores", additive_scores, [x(2, 3, 5), x(2, 7, 5), x(5)], [x(1, 1, 1), x(1, 1, 1), x(1)],
   [x(0, 2, 3), x(0, 1, 3), x(3)])
op("additive_scores of lengths", lambda q, k, v, n: within(additive_scores(q, k, v), n),
   [x(3, 2, 5), x(3, 4, 5), x(5), const([4, 0, 2])])
op("cosine_similarity", lambda q, k: F.cosine_similarity(q[:, :, None], k[:, None], dim=-1),
   [x(2, 3, 5), x(2, 7, 5)], [x(1, 1, 1), x(1, 2, 1)])
op("circular_convolution", circular_convolution, [x(2, 7), x(2, 3)], [x(3, 5), x(3, 5)], [x(1, 1), x(1, 1)])


# ---- attention: q [B, T, H, D], k [B, S, H, D], v [B, S, H, E]; a fully masked query gives zeros. k and v may have
# fewer heads: then several heads of q share each of them. ----
def attention(q, k, v, seen=None, bias=0.0):
    k, v = (x.repeat_interleave(q.shape[2] // x.shape[2], 2) for x in (k, v))
    scores = torch.einsum("bthd,bshd->bhts", q, k) / q.shape[-1] ** 0.5 + bias
    seen = torch.ones_like(scores, dtype=torch.bool) if seen is None else seen.bool().expand_as(scores)
    weights = torch.where(seen, scores.masked_fill(~seen, -1e30).softmax(-1), 0.0)
    return torch.einsum("bhts,bshe->bthe", weights, v)


def earlier(q, k):
    return torch.arange(k.shape[1]) <= torch.arange(q.shape[1])[:, None]


def first(k, lengths):
    return torch.arange(k.shape[1]) < lengths[:, None, None, None]


def packed(qkv, heads=2):
    q, k, v = qkv.reshape(*qkv.shape[:2], 3, heads, -1).unbind(2)
    return attention(q, k, v, earlier(q, k)).flatten(2)


self_, cross = [x(2, 5, 3, 4), x(2, 5, 3, 4), x(2, 5, 3, 4)], [x(2, 3, 1, 5), x(2, 7, 1, 5), x(2, 7, 1, 3)]
op("attention", attention, self_, cross, [x(1, 1, 1, 1)] * 3, [x(0, 2, 1, 3)] * 3)
op("attention causal", lambda q, k, v: attention(q, k, v, earlier(q, k)), self_, [x(1, 1, 1, 1)] * 3)
op("attention of lengths", lambda q, k, v, n: attention(q, k, v, first(k, n)), cross + [const([7, 0])], self_ + [const([2, 5])])
op("attention causal of lengths", lambda q, k, v, n: attention(q, k, v, first(k, n) & earlier(q, k)), self_ + [const([2, 5])])
op("attention allowed", lambda q, k, v, m: attention(q, k, v, m), self_ + [mask(5, 5)], cross + [mask(2, 1, 3, 7)])
op("attention additive", lambda q, k, v: attention(q, k, v, None, -0.5 * torch.arange(25.0).reshape(5, 5)), self_)
op("attention biased", lambda q, k, v, b: attention(q, k, v, None, b), self_ + [x(5, 5)], self_ + [x(2, 3, 5, 5)],
   cross + [x(1, 1, 3, 7)])
op("attention biased causal of lengths", lambda q, k, v, b, n: attention(q, k, v, first(k, n) & earlier(q, k), b),
   self_ + [x(1, 3, 5, 5), const([2, 5])], self_ + [x(2, 1, 5, 5), const([5, 0])])
op("attention grouped", attention, [x(2, 5, 6, 4), x(2, 7, 2, 4), x(2, 7, 2, 3)], [x(1, 3, 4, 5), x(1, 3, 1, 5), x(1, 3, 1, 5)])
op("self_attention causal", packed, [x(2, 5, 12)], [x(1, 3, 6)])

golden.save("ops", tensors)
