# Five steps of each optimiser with given gradients. The second parameter has no gradient in the third step.
import torch

import golden

torch.manual_seed(0)
STEPS = 5
shapes = {"weight": (7, 5), "bias": (13,)}
start = {name: torch.randn(shape) for name, shape in shapes.items()}
gradients = [{name: torch.randn(shape) for name, shape in shapes.items()} for _ in range(STEPS)]
optimizers = {
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
}
out = {f"start/{name}": value for name, value in start.items()}
for step, named in enumerate(gradients):
    out |= {f"gradient/{step}/{name}": value for name, value in named.items()}
for kind, make in optimizers.items():
    parameters = {name: value.clone().requires_grad_() for name, value in start.items()}
    optimizer = make(list(parameters.values()))
    for step, named in enumerate(gradients):
        for name, parameter in parameters.items():
            parameter.grad = None if step == 2 and name == "bias" else named[name].clone()
        optimizer.step()
    out |= {f"{kind}/{name}": parameter for name, parameter in parameters.items()}

# Clipping of all gradients of the first step to a norm of 1.5.
parameters = {name: value.clone().requires_grad_() for name, value in start.items()}
for name, parameter in parameters.items():
    parameter.grad = gradients[0][name].clone()
out["clip/norm"] = torch.nn.utils.clip_grad_norm_(list(parameters.values()), 1.5)
out |= {f"clip/{name}": parameter.grad for name, parameter in parameters.items()}
golden.save("optimizer", out)
