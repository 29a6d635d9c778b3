"""PyTorch's scaled_dot_product_attention, in its fastest layout: [B, H, T, D]."""
import torch
import torch.nn.functional as F
from torch_job import job, serve


def forward(B, T, S, H, D, causal):
    q, k, v = torch.randn(B, H, T, D), torch.randn(B, H, S, D), torch.randn(B, H, S, D)

    def run():
        with torch.no_grad():
            F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return run


def both(B, T, H, D, causal):
    q, k, v = (torch.randn(B, H, T, D, requires_grad=True) for _ in range(3))
    dy = torch.randn(B, H, T, D)

    def run():
        q.grad = k.grad = v.grad = None
        F.scaled_dot_product_attention(q, k, v, is_causal=causal).backward(dy)
    return run


for T in (256, 1024, 4096):
    for causal in (False, True):
        name = f"attention.T{T}." + ("causal" if causal else "full")
        job(name + ".forward")(lambda T=T, c=causal: forward(1, T, T, 12, 64, c))
        job(name + ".both")(lambda T=T, c=causal: both(1, T, 12, 64, c))
job("attention.S4096.decode")(lambda: forward(1, 1, 4096, 12, 64, False))
job("attention.128x10x10.forward")(lambda: forward(128, 10, 10, 4, 64, False))
job("attention.128x10x10.both")(lambda: both(128, 10, 4, 64, False))
serve()
