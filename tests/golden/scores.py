# Additive and cosine scores and their gradients, also for large and tiny rows.
import torch
from golden import save


def with_gradients(name, inputs, result):
    seed = torch.randn_like(result)
    result.backward(seed)
    tensors = {**inputs, **{f"d/{key}": value.grad for key, value in inputs.items()}, "y": result, "seed": seed}
    return {f"{name}/{key}": value for key, value in tensors.items()}


def leaf(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).requires_grad_()


def additive(name, b, t, s, d, scale):
    x = {"q": leaf(b, t, d, scale=scale), "k": leaf(b, s, d, scale=scale), "v": leaf(d)}
    return with_gradients(name, x, (x["q"].unsqueeze(2) + x["k"].unsqueeze(1)).tanh() @ x["v"])


def cosine(name):
    x = {"q": leaf(2, 3, 19), "k": leaf(2, 5, 19)}
    return with_gradients(name, x, torch.cosine_similarity(x["q"].unsqueeze(2), x["k"].unsqueeze(1), dim=-1))


def short_cosine(name):
    q, k = torch.randn(1, 2, 4) * 1e-9, torch.randn(1, 2, 4)
    q[0, 1] = 0
    y = torch.cosine_similarity(q.unsqueeze(2), k.unsqueeze(1), dim=-1)
    return {f"{name}/q": q, f"{name}/k": k, f"{name}/y": y}


torch.manual_seed(0)
save("scores", {
    **additive("additive", 2, 5, 6, 37, 1.0),
    **additive("additive_large", 2, 3, 4, 11, 40.0),  # e^2x would overflow in float32
    **cosine("cosine"),
    **short_cosine("cosine_short"),
})
