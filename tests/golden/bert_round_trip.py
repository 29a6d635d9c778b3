#!/usr/bin/env python3
# Checks that transformers loads the folders of BERT's family that Attend writes, without missing tensors, and computes
# the same results.
#   ATTEND_SAVED=saved build/release/tests/models_test --gtest_also_run_disabled_tests --gtest_filter='Bert.*ForTransformers'
#   python3 tests/golden/bert_round_trip.py saved
import inspect
import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import load_file

wrong = 0
for folder in sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.name.startswith("bert_")):
    kind = json.loads((folder / "config.json").read_text())["architectures"][0]
    model, report = getattr(transformers, kind).from_pretrained(folder, output_loading_info=True)
    saved = load_file(folder / "outputs.safetensors")
    lengths = saved["lengths"].tolist()
    ids, types, mask = (torch.zeros(len(lengths), max(lengths), dtype=torch.long) for _ in range(3))
    ids += model.config.pad_token_id
    begin = 0
    for row, length in enumerate(lengths):
        ids[row, :length], types[row, :length] = saved["ids"][begin:begin + length], saved["types"][begin:begin + length]
        mask[row, :length] = 1
        begin += length
    inputs = {"input_ids": ids, "attention_mask": mask}
    if "token_type_ids" in inspect.signature(model.forward).parameters:
        inputs["token_type_ids"] = types
    with torch.no_grad():
        out = model.eval()(**inputs, output_hidden_states=True)
    there = mask.bool()
    pairs = {"states": out.hidden_states[-1][there]}
    if kind.endswith("ForSequenceClassification") or kind.endswith("ForNextSentencePrediction"):
        pairs["head"] = out.logits
    elif kind.endswith("ForQuestionAnswering"):
        pairs["head"] = torch.stack([out.start_logits, out.end_logits], -1)[there]
    elif kind.endswith("ForPreTraining"):
        pairs["head"] = out.prediction_logits[there]
    elif not kind.endswith("Model"):
        pairs["head"] = out.logits[there]
    difference = max((value - saved[name]).abs().max().item() for name, value in pairs.items())
    problems = {key: value for key, value in report.items() if value}
    print(f"{folder.name}: {', '.join(pairs)} differ by {difference:.1e}", problems or "")
    wrong += difference > 2e-5 or bool(problems)
sys.exit(wrong > 0)
