#!/usr/bin/env python3
# The attention weights (output_attentions) of transformers for raw texts, with the small folders of the other scripts:
# BERT, DistilBERT and RoBERTa for single texts and pairs; GPT-2 for a prompt and for generated text; MarianMT for a
# translation by beam search and for a given one.
#   python3 tests/golden/attention_maps.py                    writes tests/golden/attention_maps.safetensors and .json
# Needs torch, transformers and sentencepiece. The tests only read the results.
import json
import pathlib

import torch
from golden import FOLDER, save
from transformers import AutoModel, AutoTokenizer, GPT2LMHeadModel, MarianMTModel

TESTS = pathlib.Path(__file__).parent.parent
BERT = {
    "tasks/fixtures/bert_labels": ["the bank of the river", "money in the bank\twater in the river"],
    "tasks/fixtures/bert_words": ["Nobody here knows it."],
    "tasks/fixtures/roberta_words": ["A man rides a horse.", "One\tand two"],
}
GPT2, GPT2_TEXT, NEW_TOKENS = "models/fixtures/gpt2_tokenizer", "low lower", 5
MARIAN, MARIAN_TEXT, GIVEN = "models/fixtures/marian_tokenizer", "Il bambino legge il giornale.", "The child reads"

tensors, cases = {}, []


def keep(folder, text, tokens, views, **more):
    """Adds a case. Its tensors are named CASE/VIEW/LAYER, with the shape [heads, queries, keys]."""
    for view, layers in views.items():
        for i, layer in enumerate(layers):
            tensors[f"{len(cases)}/{view}/{i}"] = layer[0]
    cases.append({"folder": folder, "text": text, "tokens": tokens, "layers": {v: len(x) for v, x in views.items()}, **more})


@torch.no_grad()
def main():
    for folder, texts in BERT.items():
        tokenizer = AutoTokenizer.from_pretrained(TESTS / folder)
        model = AutoModel.from_pretrained(TESTS / folder, attn_implementation="eager").eval()
        for text in texts:
            types = getattr(model.config, "type_vocab_size", 1) > 1
            inputs = tokenizer(*text.split("\t"), return_tensors="pt", return_token_type_ids=types)
            out = model(**inputs, output_attentions=True)
            keep(folder, text, tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]), {"self": out.attentions})

    tokenizer = AutoTokenizer.from_pretrained(TESTS / GPT2)
    model = GPT2LMHeadModel.from_pretrained(TESTS / GPT2, attn_implementation="eager").eval()
    ids = tokenizer(GPT2_TEXT, return_tensors="pt")["input_ids"]
    for new in (0, NEW_TOKENS):
        if new:
            ids = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=new, do_sample=False,
                                 pad_token_id=model.config.eos_token_id)
        out = model(ids, output_attentions=True)
        logprobs = out.logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
        tensors[f"{len(cases)}/logprobs"] = logprobs
        keep(GPT2, GPT2_TEXT, tokenizer.convert_ids_to_tokens(ids[0]), {"self": out.attentions}, max_new_tokens=new)

    tokenizer = AutoTokenizer.from_pretrained(TESTS / MARIAN)
    model = MarianMTModel.from_pretrained(TESTS / MARIAN, attn_implementation="eager").eval()
    source = tokenizer(MARIAN_TEXT, return_tensors="pt")["input_ids"]
    start = torch.tensor([[model.config.decoder_start_token_id]])
    best = model.generate(source, attention_mask=torch.ones_like(source), num_beams=4)
    given = torch.cat([start, tokenizer(text_target=GIVEN, return_tensors="pt")["input_ids"]], 1)
    for words, more in ((best, {}), (given, {"target": GIVEN})):
        out = model(source, decoder_input_ids=words[:, :-1], output_attentions=True)
        keep(MARIAN, MARIAN_TEXT, tokenizer.convert_ids_to_tokens(source[0]),
             {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions},
             target_tokens=tokenizer.convert_ids_to_tokens(words[0, 1:]), **more)

    save("attention_maps", tensors)
    (FOLDER / "attention_maps.json").write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n")


main()
