#!/usr/bin/env python3
# Makes a Hugging Face folder with the shape of SmolLM2-135M and random weights, for bench/llama_cpp.py.
#   python3 bench/llama_folder.py VOCABULARY FOLDER
# VOCABULARY: a folder with GPT-2's vocab.json and merges.txt, whose first tokens are used. Needs torch, transformers and tokenizers.
import json
import pathlib
import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VOCABULARY = 49152
source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
ids = json.loads((source / "vocab.json").read_text())
merges = [tuple(line.split(" ")) for line in (source / "merges.txt").read_text().splitlines() if line and not line.startswith("#version")]
ids = {token: i for token, i in ids.items() if i < VOCABULARY - 1}
tokenizer = Tokenizer(models.BPE(vocab=ids, merges=[pair for pair in merges if "".join(pair) in ids]))
tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
tokenizer.add_special_tokens(["<|endoftext|>"])
PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>").save_pretrained(folder)
torch.manual_seed(1)
LlamaForCausalLM(LlamaConfig(
    vocab_size=VOCABULARY, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
    max_position_embeddings=8192, rms_norm_eps=1e-5, tie_word_embeddings=True, bos_token_id=VOCABULARY - 1, eos_token_id=VOCABULARY - 1,
    rope_parameters={"rope_type": "default", "rope_theta": 100000.0})).save_pretrained(folder)
