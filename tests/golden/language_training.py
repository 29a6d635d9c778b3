#!/usr/bin/env python3
# Ten training steps of small multilingual translators: the tokens of sources and labels, and the losses, by transformers.
#   python3 tests/golden/language_training.py   writes tests/tasks/fixtures/language_training.json
# Needs torch, transformers and sentencepiece, and the folders that encoder_decoders.py has written.
import json
import pathlib
import shutil
import tempfile

import torch
from torch.nn import functional as F
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

TESTS = pathlib.Path(__file__).parent.parent
PAIRS = [("The child has seen the newspapers of 1984.", "Il bambino legge il giornale."),
         ("Nobody here doesn't understand 3,141 letters!", "Nessuno non capisce perché è così?"),
         ("A neighbour", "La vicina"),
         ("The old sailor wasn't reading café tables (and chairs).", "Un marinaio scrive l'ultima lettera.")]
# folder, tokenizer class if it is another one than that of the folder, languages
CASES = {"m2m_100": ("m2m_100_tokenizer", None, "en", "it"), "nllb": ("nllb_tokenizer", None, "eng_Latn", "ita_Latn"),
         "mbart50": ("mbart50_tokenizer", None, "en_XX", "it_IT"), "mbart": ("mbart50_tokenizer", "MBartTokenizer", "en_XX", "it_IT")}


def padded(rows, value):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=value)


def losses_of(model, sources, labels, start):
    """`start`: the decoder's first token, if the decoder starts with the language."""
    if hasattr(model, "final_logits_bias"):  # Attend trains it
        bias = torch.nn.Parameter(model.final_logits_bias.clone())
        del model.final_logits_bias
        model.final_logits_bias = bias
    pad = model.config.pad_token_id
    ids, wanted = padded(sources, pad), padded(labels, -100)
    inputs = {"input_ids": ids, "attention_mask": padded([[1] * len(row) for row in sources], 0)}
    if start is None:
        inputs["labels"] = wanted  # transformers shifts them to the right
    else:
        inputs["decoder_input_ids"] = padded([[start, *row[:-1]] for row in labels], pad)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(**inputs).logits.flatten(0, 1), wanted.flatten(), ignore_index=-100, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.6f}")
    return losses


def main():
    cases = {}
    for name, (folder, kind, source, target) in CASES.items():
        path = TESTS / "models" / "fixtures" / folder
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(path, copy, dirs_exist_ok=True)
            if kind:
                config = pathlib.Path(copy) / "tokenizer_config.json"
                config.write_text(json.dumps(json.loads(config.read_text()) | {"tokenizer_class": kind}))
            tokenizer = AutoTokenizer.from_pretrained(copy, src_lang=source, tgt_lang=target)
        model = AutoModelForSeq2SeqLM.from_pretrained(path, attn_implementation="eager").eval()
        tokenizer.tgt_lang = target
        sources = tokenizer([pair[0] for pair in PAIRS])["input_ids"]
        labels = tokenizer(text_target=[pair[1] for pair in PAIRS])["input_ids"]
        start = None
        if kind:  # the labels of mBART are "X </s> [language]": the language becomes the decoder's first token
            start = tokenizer.convert_tokens_to_ids(target)
            assert all(row[-1] == start for row in labels)
            labels = [row[:-1] for row in labels]
        cases[name] = {"folder": folder, "class": kind or "", "source": source, "target": target, "sources": sources, "labels": labels,
                       "losses": losses_of(model, sources, labels, start)}
        print(name, sources[0], labels[0], cases[name]["losses"])
    out = TESTS / "tasks" / "fixtures" / "language_training.json"
    out.write_text(json.dumps({"pairs": [{"source": a, "target": b} for a, b in PAIRS]} | cases, ensure_ascii=False) + "\n")


main()
