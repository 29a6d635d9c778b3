"""The PyTorch peer of recurrent_bench.cpp."""
import torch
from torch_job import job, serve


def layers(kind):
    layer = kind(256, 256, num_layers=2, batch_first=True)
    x = torch.randn(128, 10, 256, requires_grad=True)
    seed = torch.ones(128, 10, 256)

    def run():
        layer(x)[0].backward(seed)
        x.grad = None
        layer.zero_grad(set_to_none=True)
    return run


@job("gru.128x10x256.two_layers.both")
def _():
    return layers(torch.nn.GRU)


@job("lstm.128x10x256.two_layers.both")
def _():
    return layers(torch.nn.LSTM)


@job("additive_scores.128x10x10x256.both")
def _():
    q = torch.randn(128, 10, 256, requires_grad=True)
    k = torch.randn(128, 10, 256, requires_grad=True)
    v = torch.randn(256, requires_grad=True)
    seed = torch.randn(128, 10, 10)

    def run():
        ((q.unsqueeze(2) + k.unsqueeze(1)).tanh() @ v).backward(seed)
        q.grad = k.grad = v.grad = None
    return run


serve()
