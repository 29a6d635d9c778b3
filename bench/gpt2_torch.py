"""The peers of gpt2_bench.cpp: GPT-2 of Hugging Face transformers, and for the training of small models plain PyTorch."""
import torch
from torch import nn
from torch.nn import functional as F
from torch_job import job, serve


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.p = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        B, T, W = x.shape
        q, k, v = (part.view(B, T, self.heads, W // self.heads).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.p)
        x = x + F.dropout(self.out(seen.transpose(1, 2).reshape(B, T, W)), self.p)
        return x + F.dropout(self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh")), self.p)


class Mini(nn.Module):
    def __init__(self, dropout, vocabulary=65, positions=256, width=384, layers=6, heads=6):
        super().__init__()
        self.words, self.positions, self.p = nn.Embedding(vocabulary, width), nn.Embedding(positions, width), dropout
        self.blocks = nn.Sequential(*(Block(width, heads, dropout) for _ in range(layers)))
        self.norm = nn.LayerNorm(width, bias=False)

    def forward(self, ids):
        x = F.dropout(self.words(ids) + self.positions.weight[:ids.shape[1]], self.p)
        return F.linear(self.norm(self.blocks(x)), self.words.weight)


def gpt2(dropout):
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout))


def step(model, logits, vocabulary, B, T):
    model.train()
    adam = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    ids = torch.randint(0, vocabulary, (B, T))

    def run():
        F.cross_entropy(logits(ids).view(-1, vocabulary), ids.view(-1)).backward()
        adam.step()
        adam.zero_grad(set_to_none=True)
    return run


def write(rows):
    model = gpt2(0.0).eval()
    ids = torch.randint(0, 50257, (rows, 32))

    def run():
        with torch.inference_mode():
            model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=128, min_new_tokens=128, do_sample=False,
                           pad_token_id=50256)
    return run


@job("gpt2.step.shakespeare")
def _():
    model = Mini(0.0, positions=64, width=128, layers=4, heads=4)
    return step(model, model, 65, 12, 64)


@job("gpt2.step.mini.dropout")
def _():
    model = Mini(0.2)
    return step(model, model, 65, 12, 256)


@job("gpt2.step.mini")
def _():
    model = Mini(0.0)
    return step(model, model, 65, 12, 256)


@job("gpt2.step.124m.dropout")
def _():
    model = gpt2(0.1)
    return step(model, lambda ids: model(ids, use_cache=False).logits, 50257, 4, 256)


@job("gpt2.step.124m")
def _():
    model = gpt2(0.0)
    return step(model, lambda ids: model(ids, use_cache=False).logits, 50257, 4, 256)


@job("gpt2.write.124m.1x128")
def _():
    return write(1)


@job("gpt2.write.124m.16x128")
def _():
    return write(16)


@job("gpt2.prompt.124m.512")
def _():
    model, ids = gpt2(0.0).eval(), torch.randint(0, 50257, (1, 512))

    def run():
        with torch.inference_mode():
            model(ids, use_cache=True, logits_to_keep=1)
    return run


serve()
