# Bidirectional nn.GRU and nn.LSTM for packed sequences of different lengths, with initial states and all gradients.
import torch
from golden import save
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

B, T, I, H = 3, 6, 7, 5
LENGTHS = torch.tensor([4, 6, 1])


def case(name, kind, layers):
    module = kind(I, H, num_layers=layers, bidirectional=True, batch_first=True)
    x = torch.randn(B, T, I, requires_grad=True)
    states = [torch.randn(2 * layers, B, H, requires_grad=True) for _ in range(2 if kind is torch.nn.LSTM else 1)]
    packed = pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    packed_y, last = module(packed, tuple(states) if len(states) == 2 else states[0])
    y, _ = pad_packed_sequence(packed_y, batch_first=True, total_length=T)
    results = {"y": y, **dict(zip("hc", last if len(states) == 2 else [last]))}
    seeds = {key: torch.randn_like(value) for key, value in results.items()}
    sum((results[key] * seeds[key]).sum() for key in results).backward()

    tensors = {"x": x, "lengths": LENGTHS, **dict(zip(["h0", "c0"], states)), **dict(module.named_parameters())}
    tensors.update({f"d/{key}": value.grad for key, value in tensors.items() if value.requires_grad})
    tensors.update(results)
    tensors.update({f"seed/{key}": value for key, value in seeds.items()})
    return {f"{name}/{key}": value for key, value in tensors.items()}


torch.manual_seed(0)
save("recurrent", {
    **case("gru", torch.nn.GRU, 1),
    **case("lstm", torch.nn.LSTM, 1),
    **case("gru2", torch.nn.GRU, 2),
    **case("lstm2", torch.nn.LSTM, 2),
})
