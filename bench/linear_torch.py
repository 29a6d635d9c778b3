import torch
import torch.nn.functional as F
from torch_job import job, serve


def both(activation):
    def setup():
        x = torch.randn(1024, 768, requires_grad=True)
        layer = torch.nn.Linear(768, 3072)
        dy = torch.randn(1024, 3072)

        def run():
            activation(layer(x)).backward(dy)
            x.grad = None
            layer.zero_grad(set_to_none=True)
        return run
    return setup


job("linear_gelu.1024x768x3072.both")(both(F.gelu))
job("linear_gelu_tanh.1024x768x3072.both")(both(lambda x: F.gelu(x, approximate="tanh")))
job("linear_relu.1024x768x3072.both")(both(F.relu))
serve()
