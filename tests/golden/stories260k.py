#!/usr/bin/env python3
# Makes a Hugging Face folder of a small trained Llama in llama2.c's format (tinyllamas' stories260K), and the text that transformers
# generates with it.
#   python3 tests/golden/stories260k.py stories260K.bin tok512.bin FOLDER
#   attend generate --model FOLDER --greedy --ignore-eos --max-new-tokens 256 --json 'Once upon a time' > FOLDER/attend.json
#   python3 tests/golden/stories260k.py --compare FOLDER
# Needs numpy, torch, transformers and tokenizers.
import json
import pathlib
import struct
import sys

import numpy
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, processors
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

PROMPT, TOKENS = "Once upon a time", 256


def read_tokens(path):
    """[(token, score)] in the order of ids. llama2.c writes spaces for SentencePiece's "▁"."""
    data = path.read_bytes()
    at, tokens = 4, []
    while at < len(data):
        score, size = struct.unpack_from("<fi", data, at)
        tokens.append((data[at + 8:at + 8 + size].decode(), score))
        at += 8 + size
    return [("<unk>", 0), ("<s>", 0), ("</s>", 0)] + [(text.replace(" ", "▁"), score) for text, score in tokens[3:]]


def make_tokenizer(tokens):
    ids = {text: i for i, (text, _) in enumerate(tokens)}
    merges = []
    for text, score in tokens[259:]:
        for at in range(1, len(text)):
            if text[:at] in ids and text[at:] in ids:
                merges.append((score, at, len(text) - at, text[:at], text[at:]))
    merges.sort(key=lambda merge: merge[:3], reverse=True)
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=[merge[3:] for merge in merges], unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(content=" ", left=1)])
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def make_model(path):
    data = path.read_bytes()
    dim, hidden, layers, heads, kv_heads, vocabulary, positions = struct.unpack_from("<7i", data)
    numbers, at = numpy.frombuffer(data, "<f4", offset=28), 0
    kv = dim // heads * kv_heads

    def take(*shape):
        nonlocal at
        count = int(numpy.prod(shape))
        at += count
        return torch.tensor(numbers[at - count:at].reshape(shape))

    def halves(weight, heads):
        """Rows (2i, 2i + 1) of a head, which are rotated together, become (i, i + half)."""
        rows, columns = weight.shape
        return weight.view(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns)

    embedding, attention_norm = take(abs(vocabulary), dim), take(layers, dim)
    q, k, v, o = take(layers, dim, dim), take(layers, kv, dim), take(layers, kv, dim), take(layers, dim, dim)
    network_norm, gate, down, up = take(layers, dim), take(layers, hidden, dim), take(layers, dim, hidden), take(layers, hidden, dim)
    state = {"model.embed_tokens.weight": embedding, "model.norm.weight": take(dim)}
    take(2, positions, dim // heads // 2)  # cosines and sines
    state["lm_head.weight"] = embedding if vocabulary > 0 else take(-vocabulary, dim)
    for i in range(layers):
        layer = f"model.layers.{i}."
        state |= {layer + "input_layernorm.weight": attention_norm[i], layer + "post_attention_layernorm.weight": network_norm[i],
                  layer + "self_attn.q_proj.weight": halves(q[i], heads), layer + "self_attn.k_proj.weight": halves(k[i], kv_heads),
                  layer + "self_attn.v_proj.weight": v[i], layer + "self_attn.o_proj.weight": o[i],
                  layer + "mlp.gate_proj.weight": gate[i], layer + "mlp.up_proj.weight": up[i], layer + "mlp.down_proj.weight": down[i]}
    config = LlamaConfig(vocab_size=abs(vocabulary), hidden_size=dim, intermediate_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                         num_key_value_heads=kv_heads, max_position_embeddings=positions, rms_norm_eps=1e-5, tie_word_embeddings=vocabulary > 0)
    model = LlamaForCausalLM(config).eval()
    model.load_state_dict(state)
    return model


if sys.argv[1] == "--compare":
    folder = pathlib.Path(sys.argv[2])
    expected, found = (json.loads((folder / name).read_text()) for name in ("expected.json", "attend.json"))
    same = sum(a == b for a, b in zip(expected["ids"], found["ids"]))
    print(f"{same} of {len(expected['ids'])} tokens are equal")
    sys.exit(expected["ids"] != found["ids"] or expected["text"] != found["text"])

folder = pathlib.Path(sys.argv[3])
model, tokenizer = make_model(pathlib.Path(sys.argv[1])), make_tokenizer(read_tokens(pathlib.Path(sys.argv[2])))
model.save_pretrained(folder)
tokenizer.save_pretrained(folder)
prompt = tokenizer(PROMPT, return_tensors="pt", return_token_type_ids=False)
model.generation_config.eos_token_id = None
with torch.no_grad():
    ids = model.generate(**prompt, max_new_tokens=TOKENS, do_sample=False)[0]
whole, start = tokenizer.decode(ids, skip_special_tokens=True), tokenizer.decode(prompt["input_ids"][0], skip_special_tokens=True)
(folder / "expected.json").write_text(json.dumps({"ids": ids[prompt["input_ids"].shape[1]:].tolist(), "text": whole[len(start):]}))
print(whole)
