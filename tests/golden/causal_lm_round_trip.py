#!/usr/bin/env python3
# Checks that transformers loads the folders of language models that Attend writes, without missing tensors, and computes the same
# logits.
#   ATTEND_SAVED=saved build/release/tests/models_test --gtest_also_run_disabled_tests --gtest_filter="*ForTransformers"
#   python3 tests/golden/causal_lm_round_trip.py saved
import pathlib
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

wrong = 0
for folder in sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_dir()):
    model, report = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True, attn_implementation="eager")
    saved = load_file(folder / "outputs.safetensors")
    with torch.no_grad():
        logits = model.eval()(input_ids=saved["ids"].long()).logits
    difference = (logits - saved["logits"]).abs().max().item()
    problems = {key: value for key, value in report.items() if value}
    print(f"{folder.name}: {type(model).__name__}, logits differ by {difference:.1e} of {logits.abs().max():.1f}", problems or "")
    wrong += difference > 1e-5 or bool(problems)
sys.exit(wrong > 0)
