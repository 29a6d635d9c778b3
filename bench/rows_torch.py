"""The PyTorch peer of rows_bench.cpp."""
import torch
import torch.nn.functional as F

from torch_job import best_seconds, job, serve


def op_jobs(name, shape, make):
    @job(name + ".forward")
    def forward():
        x, op = torch.randn(shape), make()

        def run():
            with torch.no_grad():
                op(x)
        return run

    @job(name + ".both")
    def backward():
        x, op = torch.randn(shape, requires_grad=True), make()
        dy = torch.randn_like(op(x))

        def run():
            op(x).backward(dy)
            x.grad = None
        return run


def layer_norm():
    gain, bias = torch.randn(768, requires_grad=True), torch.randn(768, requires_grad=True)
    return lambda x: F.layer_norm(x, (768,), gain, bias)


def rms_norm():
    gain = torch.randn(768, requires_grad=True)
    return lambda x: F.rms_norm(x, (768,), gain, 1e-6)


def gated(function):
    def op(x):
        gate, up = x.chunk(2, -1)
        return function(gate) * up
    return op


def rotate():
    """As in the code of Llama. The values are not rotated."""
    angles = (torch.arange(4096) % 1024)[:, None] * 10000.0 ** (-torch.arange(0, 64, 2) / 64)
    cos, sin = torch.cat([angles.cos()] * 2, -1)[:, None], torch.cat([angles.sin()] * 2, -1)[:, None]

    def op(x):
        heads = x.view(4096, 36, 64)[:, :24]
        return heads * cos + torch.cat([-heads[..., 32:], heads[..., :32]], -1) * sin
    return op


def cross_entropy():
    targets = torch.arange(1024) * 49 % 50257
    return lambda x: F.cross_entropy(x, targets)


def gpt2():
    shapes = [(50257, 768), (1024, 768)]
    for _ in range(12):
        shapes += [(768,), (768,), (768, 2304), (2304,), (768, 768), (768,)]
        shapes += [(768,), (768,), (768, 3072), (3072,), (3072, 768), (768,)]
    shapes += [(768,), (768,)]
    parameters = [torch.full(shape, 0.1, requires_grad=True) for shape in shapes]
    for parameter in parameters:
        parameter.grad = torch.full_like(parameter, 0.01)
    return parameters


op_jobs("layer_norm.4096x768", (4096, 768), layer_norm)
op_jobs("rms_norm.4096x768", (4096, 768), rms_norm)
op_jobs("softmax.4096x1024", (4096, 1024), lambda: lambda x: F.softmax(x, -1))
op_jobs("gelu.4096x768", (4096, 768), lambda: F.gelu)
op_jobs("gelu_tanh.4096x768", (4096, 768), lambda: lambda x: F.gelu(x, approximate="tanh"))
op_jobs("gated_silu.4096x2048", (4096, 4096), lambda: gated(F.silu))
op_jobs("gated_gelu_tanh.4096x2048", (4096, 4096), lambda: gated(lambda x: F.gelu(x, approximate="tanh")))
op_jobs("rotate.4096x2304", (4096, 2304), rotate)
op_jobs("dropout.4096x768", (4096, 768), lambda: lambda x: F.dropout(x, 0.1))
op_jobs("cross_entropy.1024x50257", (1024, 50257), cross_entropy)


@job("adamw.124M")
def adamw():
    """The fastest implementation: a loop, foreach or fused."""
    parameters = gpt2()
    runs = []
    for way in ({}, {"foreach": True}, {"fused": True}):
        optimizer = torch.optim.AdamW(parameters, **way)
        runs.append((best_seconds(optimizer.step, 0.1), optimizer.step))
        optimizer.state.clear()
    return min(runs, key=lambda run: run[0])[1]


@job("gradient_norm.124M")
def gradient_norm():
    gradients = [parameter.grad for parameter in gpt2()]
    return lambda: torch.nn.utils.get_total_norm(gradients)


serve()
