#!/usr/bin/env python3
# Small random folders of Llama, Mistral, Qwen, SmolLM3, Gemma 2, GPT-NeoX and Phi-3, each with the results of transformers.
#   python3 tests/golden/causal_lms.py [NAME …]   writes tests/models/fixtures/: a folder each, with golden.safetensors inside
# Needs torch and transformers. The tests only read the results.
import json
import pathlib
import shutil
import sys

import torch
from golden import save
from torch.nn import functional as F
from transformers import (AutoModelForCausalLM, AutoModelForSequenceClassification, Gemma2Config, GPTNeoXConfig, LlamaConfig,
                          MistralConfig, Phi3Config, Qwen2Config, Qwen3Config, SmolLM3Config)

FIXTURES = pathlib.Path(__file__).parent.parent / "models" / "fixtures"
LENGTHS, POSITIONS, STEPS, NEW = [11, 3, 7], 32, 10, 14

SMALL = dict(vocab_size=61, hidden_size=12, intermediate_size=17, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
             max_position_embeddings=POSITIONS, bos_token_id=1, eos_token_id=60, pad_token_id=None)
VARIANTS = {
    "llama": (LlamaConfig, dict(tie_word_embeddings=False)),
    "llama_wide_heads": (LlamaConfig, dict(head_dim=6, num_attention_heads=4, num_key_value_heads=2, attention_bias=True, mlp_bias=True,
                         tie_word_embeddings=True, rope_parameters=dict(rope_type="llama3", rope_theta=1000.0, factor=4.0,
                         low_freq_factor=1.0, high_freq_factor=3.0, original_max_position_embeddings=8))),
    "llama_linear_old": (LlamaConfig, dict(num_hidden_layers=1, rope_parameters=dict(rope_type="linear", rope_theta=500.0, factor=2.5))),
    "llama_dynamic": (LlamaConfig, dict(num_hidden_layers=1, rope_parameters=dict(rope_type="dynamic", rope_theta=500.0, factor=2.0))),
    "llama_yarn": (LlamaConfig, dict(num_hidden_layers=1, head_dim=10, rope_parameters=dict(rope_type="yarn", rope_theta=100.0, factor=4.0,
                   original_max_position_embeddings=8))),
    "llama_bfloat16": (LlamaConfig, dict(hidden_size=24, tie_word_embeddings=False, eos_token_id=[59, 60])),
    "llama_float16": (LlamaConfig, dict(hidden_size=24, tie_word_embeddings=True)),
    "mistral": (MistralConfig, dict(num_hidden_layers=3, sliding_window=4, head_dim=6)),
    "mistral_full": (MistralConfig, dict(sliding_window=None, num_hidden_layers=1)),
    "qwen2": (Qwen2Config, dict(num_hidden_layers=3, use_sliding_window=True, sliding_window=5, max_window_layers=1)),
    "qwen3": (Qwen3Config, dict(head_dim=8, tie_word_embeddings=True)),
    "qwen3_biases": (Qwen3Config, dict(head_dim=6, attention_bias=True, num_hidden_layers=1)),
    "smollm3": (SmolLM3Config, dict(num_hidden_layers=4, no_rope_layer_interval=2)),
    "gemma2": (Gemma2Config, dict(num_hidden_layers=2, head_dim=6, sliding_window=5, attn_logit_softcapping=1.5, final_logit_softcapping=4.0,
               query_pre_attn_scalar=3)),
    "gemma2_uncapped": (Gemma2Config, dict(num_hidden_layers=1, head_dim=4, attn_logit_softcapping=None, final_logit_softcapping=None,
                        query_pre_attn_scalar=4)),
    "gpt_neox": (GPTNeoXConfig, dict(hidden_size=24, rope_parameters=dict(rope_type="default", rope_theta=200.0, partial_rotary_factor=0.5))),
    "gpt_neox_serial_old": (GPTNeoXConfig, dict(use_parallel_residual=False, attention_bias=False, hidden_act="gelu_new", num_hidden_layers=1,
                            rope_parameters=dict(rope_type="default", rope_theta=100.0, partial_rotary_factor=0.5))),
    "phi3": (Phi3Config, dict(sliding_window=6, tie_word_embeddings=True)),
    "phi3_long": (Phi3Config, dict(head_dim=None, hidden_size=24, original_max_position_embeddings=8, partial_rotary_factor=0.5, rope_parameters=dict(
                  rope_type="longrope", rope_theta=50.0, partial_rotary_factor=0.5, short_factor=[1.0, 1.5], long_factor=[2.0, 4.5]))),
}
# config.json as older versions of transformers wrote it.
OLD = {
    "llama_linear_old": dict(rope_theta=500.0, rope_scaling=dict(type="linear", factor=2.5)),
    "gpt_neox_serial_old": dict(rotary_emb_base=100, rotary_pct=0.5),
}


def small_model(kind, options):
    """Random weights, overfitted to a few random texts, so that generated texts vary and end."""
    options = SMALL | options
    if kind is GPTNeoXConfig:
        del options["num_key_value_heads"]
    if options.get("head_dim", 0) is None:
        del options["head_dim"]
    config = kind(**options)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for value in model.parameters():
            value += torch.randn(value.shape) * 0.2
    texts = torch.randint(2, 59, (5, 20))
    texts[:, -1] = 60
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        model(input_ids=texts, labels=texts).loss.backward()
        optimizer.step()
    return model, texts


def training_losses(model, ids, labels):
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(input_ids=ids).logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def make(name, kind, options):
    path = FIXTURES / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    model, texts = small_model(kind, options)
    half = name.split("_")[-1] if name.endswith("float16") else None
    if half:
        model = model.to(getattr(torch, half))
    model.save_pretrained(path)
    (path / "generation_config.json").unlink(missing_ok=True)
    if name in OLD:
        config = json.loads((path / "config.json").read_text())
        del config["rope_parameters"]
        (path / "config.json").write_text(json.dumps(config | OLD[name], indent=2) + "\n")
    loaded, report = AutoModelForCausalLM.from_pretrained(path, attn_implementation="eager", output_loading_info=True, dtype=torch.float32)
    assert not report["missing_keys"], report
    ids = torch.randint(2, 59, (3, max(LENGTHS)))
    for row, length in enumerate(LENGTHS):
        ids[row, :length] = texts[row, :length]  # a text of the training, so that the model continues it
    labels = torch.cat([ids[:, 1:], torch.full((3, 1), 60)], 1)
    labels[torch.arange(max(LENGTHS))[None] >= torch.tensor(LENGTHS)[:, None]] = -100
    tensors = {"ids": ids, "lengths": torch.tensor(LENGTHS), "targets": labels}
    with torch.no_grad():
        out = loaded(input_ids=ids, output_attentions=True)
        tensors |= {"logits": out.logits, **{f"layers.{i}": weights for i, weights in enumerate(out.attentions)}}
        for row, length in enumerate(LENGTHS):
            prompt = ids[row:row + 1, :length]
            tensors[f"logits.{row}"] = loaded(input_ids=prompt).logits[0]  # of the text alone
            how = dict(attention_mask=torch.ones_like(prompt), max_new_tokens=NEW, pad_token_id=60, do_sample=False,
                       use_cache=name != "phi3_long")  # with a cache, transformers keeps keys of the frequencies of short texts
            tensors[f"greedy.{row}"] = loaded.generate(prompt, **how)[0, length:]
            tensors[f"beam.{row}"] = loaded.generate(prompt, num_beams=3, num_return_sequences=3, **how)[:, length:]
    tensors["losses"] = training_losses(loaded, ids, labels)
    save(path / "golden", tensors)
    print(name, sorted(f"{f.name} {f.stat().st_size:,}" for f in path.iterdir()))
    print("  greedy", [tensors[f"greedy.{row}"].tolist() for row in range(3)])
    print("  losses", [round(x, 4) for x in tensors["losses"].tolist()])


def make_classifier(name):
    path = FIXTURES / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    config = Qwen2Config(**(SMALL | dict(pad_token_id=60)), id2label={0: "bad", 1: "good", 2: "neither"}, label2id={"bad": 0, "good": 1, "neither": 2})
    model = AutoModelForSequenceClassification.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for value in model.parameters():
            value += torch.randn(value.shape) * 0.2
    model.save_pretrained(path)
    tensors = {"lengths": torch.tensor(LENGTHS), "ids": torch.randint(59, (3, max(LENGTHS)))}
    with torch.no_grad():
        tensors["logits"] = torch.cat([model(input_ids=tensors["ids"][row:row + 1, :length]).logits for row, length in enumerate(LENGTHS)])
    save(path / "golden", tensors)


if __name__ == "__main__":
    if len(sys.argv) < 2 or "qwen2_labels" in sys.argv:
        torch.manual_seed(99)
        make_classifier("qwen2_labels")
    for i, (name, (kind, options)) in enumerate(VARIANTS.items()):
        torch.manual_seed(i)
        if len(sys.argv) < 2 or name in sys.argv:
            make(name, kind, options)
