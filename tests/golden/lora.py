"""Ten AdamW steps of low-rank adapters (Hu et al. 2021) on small models of `transformers`: writes lora.safetensors.

The adapters are written out here: y = W x + (alpha / rank) B A x, with A and B in the names of PEFT. For each case: the batch, the adapters
before and after, the loss before each step, and the logits afterwards. tests/models/adapter_test.cpp runs the same steps.
Needs PyTorch and transformers: python3 tests/golden/lora.py
"""
import pathlib

import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoModelForSequenceClassification

import golden

FIXTURES = pathlib.Path(__file__).parent.parent / "models" / "fixtures"
RANK, ALPHA, STEPS = 3, 5.0, 10
# folder, class, endings of the adapted layers, modules that are trained fully
CASES = {"gpt2": ("gpt2_switches", AutoModelForCausalLM, ["c_attn", "c_proj"], []),
         "phi3": ("phi3", AutoModelForCausalLM, ["qkv_proj", "gate_up_proj"], []),
         "gpt_neox": ("gpt_neox", AutoModelForCausalLM, ["query_key_value", "dense"], []),
         "bert": ("bert_bert_sequenceclassification", AutoModelForSequenceClassification, ["query", "value"], ["classifier"]),
         "modernbert": ("bert_modernbert_sequenceclassification", AutoModelForSequenceClassification, ["Wqkv", "Wi"], ["classifier"]),
         "marian": ("marian_tied", AutoModelForSeq2SeqLM, ["q_proj", "v_proj"], []),
         "t5": ("t5_relu", AutoModelForSeq2SeqLM, ["q", "v", "wo"], [])}


class Adapted(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        rows, columns = layer.weight.shape  # GPT-2's Conv1D holds [in, out]
        width_in, width_out = (columns, rows) if isinstance(layer, torch.nn.Linear) else (rows, columns)
        self.a = torch.nn.Parameter(torch.randn(RANK, width_in) * 0.3)
        self.b = torch.nn.Parameter(torch.randn(width_out, RANK) * 0.3)

    def __getattr__(self, name):  # some models read layer.weight.dtype
        return getattr(super().__getattr__("layer"), name) if name in ("weight", "bias") else super().__getattr__(name)

    def forward(self, x):
        return self.layer(x) + ALPHA / RANK * F.linear(F.linear(x, self.a), self.b)


tensors = {}
for case, (folder, kind, targets, saved) in CASES.items():
    torch.manual_seed(7)
    model = kind.from_pretrained(FIXTURES / folder, attn_implementation="eager").eval()
    model.requires_grad_(False)
    trained = {}
    for name, layer in list(model.named_modules()):
        if name.split(".")[-1] in targets and hasattr(layer, "weight"):
            adapted = Adapted(layer)
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, adapted)
            trained |= {f"base_model.model.{name}.lora_A.weight": adapted.a, f"base_model.model.{name}.lora_B.weight": adapted.b}
        if name in saved:
            layer.requires_grad_(True)
            trained |= {f"base_model.model.{name}.{key}": value for key, value in layer.named_parameters()}
    size = model.config.vocab_size - 4
    ids, targets_ = torch.randint(2, size, (3, 11)), torch.randint(2, size, (3, 7))
    if kind is AutoModelForSequenceClassification:
        ids, wanted = ids[:, :9], torch.tensor([0, 2, 1])
    elif kind is AutoModelForCausalLM:
        wanted = torch.randint(2, size, (3, 11))
    else:
        wanted = torch.randint(2, size, (3, 7))

    def logits():
        if kind is AutoModelForSeq2SeqLM:
            return model(input_ids=ids, decoder_input_ids=targets_).logits
        return model(input_ids=ids).logits

    tensors |= {f"{case}/initial/{name}": value.detach().clone() for name, value in trained.items()}
    tensors |= {f"{case}/ids": ids, f"{case}/inputs": targets_, f"{case}/targets": wanted}
    optimizer = torch.optim.AdamW(trained.values(), lr=1e-2, weight_decay=0.1)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.cross_entropy(logits().flatten(0, -2), wanted.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    tensors |= {f"{case}/final/{name}": value.detach().clone() for name, value in trained.items()}
    tensors |= {f"{case}/losses": torch.tensor(losses), f"{case}/logits": logits().detach()}
    print(case, len(trained), losses[0], losses[-1])
golden.save("lora", tensors)
