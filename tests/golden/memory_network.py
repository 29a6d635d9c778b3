# End-to-end memory networks (Sukhbaatar et al. 2015) in PyTorch, written from the paper, with the parameter names of
# Attend: logits, the weights of each hop, all gradients, and the losses of ten steps of AdamW.
import torch
from golden import save
from torch.nn import functional as F

WORDS, ROWS, D, TIMES = 11, 13, 6, 7
# Three stories, sentence by sentence, with the word ids of each sentence, and a question about each.
STORIES = [[[1, 2, 3], [4, 5], [1, 2, 3], [6, 7, 8, 9]], [[4, 5], [10, 1, 2]], [[0, 3, 5, 7, 9]]]
QUESTIONS = [[2, 8], [10, 4, 1], [6]]
AGES = [[5, 2, 1, 0], [1, 0], [3]]  # with the gaps of time noise
ANSWER_ROWS = [3, 7, 11, 12]
ANSWERS = torch.tensor([2, 0, 3])


def encoding(J):
    """l_kj of section 4.1, [J, D]."""
    j, k = torch.arange(1, J + 1)[:, None] / J, torch.arange(1, D + 1)[None] / D
    return (1 - j) - k * (1 - 2 * j)


def bag(table, ids, position):
    rows = table[torch.tensor(ids)]
    return (encoding(len(ids)) * rows if position else rows).sum(0)


def forward(w, hops, adjacent, position, temporal, linear, nonlinear, matrix):
    logits, looked = [], []
    for story, question, ages in zip(STORIES, QUESTIONS, AGES):
        def memory(i):
            rows = torch.stack([bag(w[f"embeddings.{i}.words"], sentence, position) for sentence in story])
            return rows + w[f"embeddings.{i}.times"][torch.tensor(ages)] if temporal else rows

        u = bag(w["embeddings.0.words"] if adjacent else w["question"], question, position)
        weights = []
        for hop in range(hops):
            scores = memory(hop if adjacent else 0) @ u
            p = scores if linear else torch.softmax(scores, 0)
            o = p @ memory(hop + 1 if adjacent else 1)
            u = (w["next.weight"] @ u if matrix else u) + o
            if nonlinear and hop + 1 < hops:
                u = torch.cat([u[:D // 2], torch.relu(u[D // 2:])])
            weights.append(F.pad(p, (0, 4 - len(p))))
        logits.append((w[f"embeddings.{hops}.words"][ANSWER_ROWS] if adjacent else w["output"]) @ u)
        looked.append(torch.stack(weights))
    return torch.stack(logits), torch.stack(looked)


def case(name, hops, adjacent=True, position=True, temporal=True, linear=False, nonlinear=False, matrix=False):
    def normal(*shape):
        return (0.7 * torch.randn(shape)).requires_grad_()

    w = {}
    for i in range(hops + 1 if adjacent else 2):
        w[f"embeddings.{i}.words"] = normal(ROWS, D)
        if temporal:
            w[f"embeddings.{i}.times"] = normal(TIMES, D)
    if not adjacent:
        w |= {"question": normal(ROWS, D), "next.weight": normal(D, D), "output": normal(len(ANSWER_ROWS), D)}
    elif matrix:
        w["next.weight"] = normal(D, D)
    options = (hops, adjacent, position, temporal, linear, nonlinear, matrix or not adjacent)
    tensors = {key: value.detach().clone() for key, value in w.items()}
    logits, looked = forward(w, *options)
    F.cross_entropy(logits, ANSWERS).backward()
    tensors |= {"logits": logits, "weights": looked} | {f"d/{key}": value.grad.clone() for key, value in w.items()}
    optimizer = torch.optim.AdamW(w.values(), lr=1e-2, weight_decay=0.1)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(w, *options)[0], ANSWERS)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {f"{name}/{key}": value for key, value in (tensors | {"losses": torch.tensor(losses)}).items()}


torch.manual_seed(0)
everything = case("adjacent", 3) | case("layer-wise", 3, adjacent=False) | case("bag", 2, position=False, temporal=False)
everything |= case("linear", 2, linear=True) | case("nonlinear", 3, nonlinear=True) | case("one hop", 1)
everything |= case("hop matrix", 3, matrix=True)
save("memory_network", everything)
