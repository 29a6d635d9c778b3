"""The peers of bert_bench.cpp: BERT, MPNet and ModernBERT of Hugging Face transformers, and ONNX Runtime with BERT exported
by torch."""
import os
import tempfile

import torch
from torch.nn import functional as F
from torch_job import job, serve
from transformers import (BertConfig, BertForMaskedLM, BertModel, ModernBertConfig, ModernBertModel, MPNetConfig,
                          MPNetModel)

BASE = {}
MINI_LM = dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))


def encode(model, B, T):
    model.eval()
    ids = torch.randint(3, 30000, (B, T))

    def run():
        with torch.inference_mode():
            model(input_ids=ids)
    return run


def hugging_face(sizes, B, T):
    return encode(BertModel(BertConfig(**sizes), add_pooling_layer=False), B, T)


class States(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(input_ids=ids).last_hidden_state


def onnx_runtime(sizes, B, T):
    import onnxruntime
    model = BertModel._from_config(BertConfig(**sizes), attn_implementation="eager", add_pooling_layer=False).eval()
    ids = torch.randint(0, 30522, (B, T))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        torch.onnx.export(States(model), (ids,), path, input_names=["ids"], output_names=["states"], dynamo=False,
                          opset_version=17)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = {"ids": ids.numpy()}
    return lambda: session.run(None, feed)


for name, make in [("hf", hugging_face), ("ort", onnx_runtime)]:
    job(f"bert_base.32x128.{name}")(lambda make=make: make(BASE, 32, 128))
    job(f"bert_base.1x128.{name}")(lambda make=make: make(BASE, 1, 128))
    job(f"mini_lm.32x64.{name}")(lambda make=make: make(MINI_LM, 32, 64))


job("mpnet_base.32x128.hf")(lambda: encode(MPNetModel(MPNetConfig(), add_pooling_layer=False), 32, 128))
job("modernbert_base.32x128.hf")(lambda: encode(ModernBertModel(ModernBertConfig()), 32, 128))


@job("mini_lm.mixed.hf")
def _():
    """Batches of 32 sentences in the given order, padded to the longest."""
    model = BertModel(BertConfig(**MINI_LM), add_pooling_layer=False).eval()
    lengths = [5 + i * 37 % 124 for i in range(1000)]
    batches = []
    for first in range(0, 1000, 32):
        part = torch.tensor(lengths[first:first + 32])
        mask = (torch.arange(int(part.max()))[None] < part[:, None]).long()
        batches.append((torch.randint(0, 30522, mask.shape) * mask, mask))

    def run():
        with torch.inference_mode():
            for ids, mask in batches:
                model(input_ids=ids, attention_mask=mask)
    return run


@job("bert_base.step.8x128")
def _():
    model = BertForMaskedLM(BertConfig())
    model.train()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    ids = torch.randint(0, 30522, (8, 128))
    labels = torch.full((8 * 128,), -100)
    for row in range(8 * 128):
        if row * 7 % 20 < 3:
            labels[row] = row % 1000

    def run():
        F.cross_entropy(model(input_ids=ids).logits.flatten(0, 1), labels).backward()
        adam.step()
        adam.zero_grad(set_to_none=True)
    return run


serve()
