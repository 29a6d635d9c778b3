#!/usr/bin/env python3
# Summaries by transformers with the random BART and T5 of tests/models/fixtures, as its pipeline for summaries made them until
# version 4: "prefix" and options come from "task_specific_params" of config.json, the others from generation_config.json.
#   python3 tests/golden/summaries.py   writes tests/golden/summaries.json
# Needs torch and transformers. The tests only read the result.
import json
import pathlib

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

TESTS = pathlib.Path(__file__).parent.parent
DOCUMENTS = [
    "The mayor opened the new bridge on Monday. It took four years to build. Nobody had expected so many people!",
    "A storm has closed the harbour. Ships wait outside, and the ferry will not leave before Friday.\nThe fishermen mend their nets.",
    "To be, or not to be: that is the question.",
    "  The cat sleeps. The dog doesn't sleep; it waits for the neighbour, who comes home at six o'clock every evening. ",
]
SETTINGS = [  # of "summarization" in "task_specific_params", and the prefix of config.json itself
    ("t5_tokenizer", {"early_stopping": True, "length_penalty": 2.0, "max_length": 20, "min_length": 8, "no_repeat_ngram_size": 3,
                      "num_beams": 4, "prefix": "summarize: "}, None),
    ("t5_tokenizer", {"early_stopping": "never", "length_penalty": 0.6, "max_length": 12, "min_length": 0, "no_repeat_ngram_size": 2,
                      "num_beams": 3}, "a king: "),
    ("t5_tokenizer", {"max_new_tokens": 9, "max_length": 5, "min_new_tokens": 9, "num_beams": 1, "repetition_penalty": 1.5}, None),
    ("bart_tokenizer", {"early_stopping": True, "length_penalty": 2.0, "max_length": 24, "min_length": 10, "no_repeat_ngram_size": 3,
                        "num_beams": 4}, " "),
    ("bart_tokenizer", {"length_penalty": 1.0, "max_length": 14, "min_length": 12, "num_beams": 2, "no_repeat_ngram_size": 1}, None),
    ("bart_tokenizer", {}, None),
]


def summarize(folder, parameters, prefix):
    path = TESTS / "models/fixtures" / folder
    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModelForSeq2SeqLM.from_pretrained(path, attn_implementation="eager").eval()
    options = GenerationConfig.from_pretrained(path).to_dict() | parameters
    prefix = options.pop("prefix", prefix or "")
    texts = [prefix + text for text in DOCUMENTS]
    summaries = []
    for text in texts:  # one by one, and together below
        with torch.no_grad():
            found = model.generate(**tokenizer(text, return_tensors="pt"), generation_config=GenerationConfig(**options),
                                   return_dict_in_generate=True, output_scores=True)
        ids = found.sequences[0].tolist()[1:]
        while ids and ids[-1] == tokenizer.pad_token_id:
            ids.pop()
        one = {"summary": tokenizer.decode(ids, skip_special_tokens=True), "ids": ids}
        if options.get("num_beams", 1) > 1:
            one["score"] = round(found.sequences_scores[0].item(), 6)
        summaries.append(one)
    with torch.no_grad():
        together = model.generate(**tokenizer(texts, return_tensors="pt", padding=True), generation_config=GenerationConfig(**options))
    assert tokenizer.batch_decode(together, skip_special_tokens=True) == [one["summary"] for one in summaries]
    return summaries


def main():
    cases = [{"folder": folder, "parameters": parameters} | ({} if prefix is None else {"prefix": prefix}) |
             {"summaries": summarize(folder, parameters, prefix)} for folder, parameters, prefix in SETTINGS]
    text = json.dumps({"documents": DOCUMENTS, "cases": cases}, ensure_ascii=False, indent=1) + "\n"
    (TESTS / "golden" / "summaries.json").write_text(text)
    for case in cases:
        print(case["folder"], case["parameters"], *(one["summary"] for one in case["summaries"]), sep="\n  ")


if __name__ == "__main__":
    main()
