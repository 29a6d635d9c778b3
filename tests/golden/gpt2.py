#!/usr/bin/env python3
# Small random GPT-2 folders, each with the results of transformers.
#   python3 tests/golden/gpt2.py                     writes tests/models/fixtures/: a folder each, with golden.safetensors inside
# Needs torch and transformers. The tests only read the results.
import json
import pathlib
import shutil
import sys

import torch
from golden import save
from torch.nn import functional as F
from transformers import GPT2Config, GPT2ForSequenceClassification, GPT2LMHeadModel

FIXTURES = pathlib.Path(__file__).parent.parent / "models" / "fixtures"
TOKENIZER = pathlib.Path(__file__).parent.parent / "text" / "fixtures" / "gpt2"
LENGTHS, POSITIONS, STEPS = [7, 3, 5], 24, 10

# Obsolete keys of real folders, to test that they are ignored.
OLD_KEYS = {"n_ctx": POSITIONS, "summary_type": "cls_index", "summary_use_proj": True, "gradient_checkpointing": False,
            "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}}}

VARIANTS = {
    # Like the first GPT-2 folders: no prefix, masks among the weights, a PyTorch file.
    "gpt2_old_bin": dict(vocab_size=61, n_embd=15, n_layer=2, n_head=3),
    "gpt2_switches": dict(vocab_size=67, n_embd=14, n_layer=3, n_head=7, n_inner=23, activation_function="relu",
                          layer_norm_epsilon=1e-3, scale_attn_by_inverse_layer_idx=True, reorder_and_upcast_attn=True,
                          tie_word_embeddings=False),
    "gpt2_unscaled": dict(vocab_size=59, n_embd=9, n_layer=1, n_head=1, n_inner=5, activation_function="gelu",
                          scale_attn_weights=False),
    "gpt2_tokenizer": dict(n_embd=20, n_layer=2, n_head=5, activation_function="gelu_new"),
}


def small_model(options):
    """Random weights, overfitted to a few random texts, so that generated texts vary and end."""
    end = options["vocab_size"] - 1
    config = GPT2Config(**options, n_positions=POSITIONS, bos_token_id=end, eos_token_id=end, resid_pdrop=0.0,
                        embd_pdrop=0.0, attn_pdrop=0.0)
    model = GPT2LMHeadModel._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            value += torch.randn(value.shape) * 0.2
    texts = torch.randint(end, (5, 14))
    texts[:, -1] = end
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(80):
        optimizer.zero_grad()
        model(input_ids=texts, labels=texts).loss.backward()
        optimizer.step()
    return model, texts


def write_folder(name, model, path):
    model.save_pretrained(path)
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps(config | OLD_KEYS, indent=2) + "\n")
    if "old" in name:
        tensors = {key.removeprefix("transformer."): value for key, value in model.state_dict().items() if key != "lm_head.weight"}
        for i in range(model.config.n_layer):
            tensors[f"h.{i}.attn.bias"] = torch.ones(POSITIONS, POSITIONS).tril().view(1, 1, POSITIONS, POSITIONS)
            tensors[f"h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
        (path / "model.safetensors").unlink()
        torch.save(tensors, path / "pytorch_model.bin")


def training_losses(model, ids, labels):
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(input_ids=ids).logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def make(name, options):
    path = FIXTURES / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    if "tokenizer" in name:
        for file in ("vocab.json", "merges.txt", "tokenizer_config.json"):
            shutil.copy(TOKENIZER / file, path / file)
        options["vocab_size"] = len(json.loads((path / "vocab.json").read_text()))
    model, texts = small_model(options)
    write_folder(name, model, path)
    loaded, report = GPT2LMHeadModel.from_pretrained(path, attn_implementation="eager", output_loading_info=True)
    assert not report["missing_keys"], report
    end = options["vocab_size"] - 1
    ids = torch.randint(end, (3, max(LENGTHS)))
    for row, length in enumerate(LENGTHS):
        ids[row, :length] = texts[row, :length]  # a text of the training, so that the model continues it
    labels = torch.cat([ids[:, 1:], torch.full((3, 1), end)], 1)
    labels[torch.arange(max(LENGTHS))[None] >= torch.tensor(LENGTHS)[:, None]] = -100
    tensors = {"ids": ids, "lengths": torch.tensor(LENGTHS), "targets": labels}
    with torch.no_grad():
        out = loaded(input_ids=ids, output_attentions=True)
        tensors |= {"logits": out.logits, **{f"layers.{i}": weights for i, weights in enumerate(out.attentions)}}
        for row, length in enumerate(LENGTHS):
            prompt = ids[row:row + 1, :length]
            options = dict(attention_mask=torch.ones_like(prompt), max_new_tokens=12, pad_token_id=end, do_sample=False)
            tensors[f"greedy.{row}"] = loaded.generate(prompt, **options)[0, length:]
            tensors[f"careful.{row}"] = loaded.generate(prompt, repetition_penalty=1.3, no_repeat_ngram_size=2, **options)[0, length:]
            beam = loaded.generate(prompt, num_beams=3, num_return_sequences=3, return_dict_in_generate=True,
                                   output_scores=True, **options)
            tensors |= {f"beam.{row}": beam.sequences[:, length:], f"beam_scores.{row}": beam.sequences_scores}
    tensors["losses"] = training_losses(loaded, ids, labels)
    save(path / "golden", tensors)
    print(name, sorted(f"{f.name} {f.stat().st_size:,}" for f in path.iterdir()))
    print("  greedy", [tensors[f"greedy.{row}"].tolist() for row in range(3)])
    print("  losses", [round(x, 4) for x in tensors["losses"].tolist()])


def make_classifier(name, options):
    """GPT2ForSequenceClassification: logits of the last token of texts of different lengths."""
    path = FIXTURES / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    for file in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        shutil.copy(TOKENIZER / file, path / file)
    words = len(json.loads((path / "vocab.json").read_text()))
    config = GPT2Config(vocab_size=words, n_positions=POSITIONS, bos_token_id=words - 1, eos_token_id=words - 1, pad_token_id=words - 1,
                        id2label={0: "bad", 1: "good", 2: "neither"}, label2id={"bad": 0, "good": 1, "neither": 2}, **options)
    model = GPT2ForSequenceClassification._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for value in model.parameters():
            value += torch.randn(value.shape) * 0.2
    model.save_pretrained(path)
    tensors = {"lengths": torch.tensor(LENGTHS), "ids": torch.randint(words - 1, (3, max(LENGTHS)))}
    with torch.no_grad():
        tensors["logits"] = torch.cat([model(input_ids=tensors["ids"][row:row + 1, :length]).logits for row, length in enumerate(LENGTHS)])
    save(path / "golden", tensors)
    print(name, tensors["logits"].tolist())


if __name__ == "__main__":
    if len(sys.argv) < 2 or "gpt2_labels" in sys.argv:
        torch.manual_seed(9)
        make_classifier("gpt2_labels", dict(n_embd=12, n_layer=2, n_head=3, tie_word_embeddings=False))
    for i, (name, options) in enumerate(VARIANTS.items()):
        torch.manual_seed(i)
        if len(sys.argv) < 2 or name in sys.argv:
            make(name, dict(options))
