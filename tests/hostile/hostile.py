#!/usr/bin/env python3
# Runs the program on damaged and hostile model folders, corpora and recipes. Each case is one run of one verb with a
# limit of 10 seconds of processor time and 2 GB. It must end with exit code 0 or 2, print valid JSON with --json, and
# explain an error in words of its own. A model with a NaN among its weights must be refused.
#   tests/hostile/hostile.py [--program build/release/attend] [--cases 20000] [--seconds 600] [--part 1/4] [--seed 1]
#   tests/hostile/hostile.py --only ID       repeats one case and prints what the program printed
# The cases depend on the seed only. Failures are kept under --keep, with the command that repeats them.
import argparse
import collections
import hashlib
import itertools
import json
import multiprocessing
import os
import random
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MODELS, TASKS, TEXTS = (os.path.join(ROOT, "tests", part, "fixtures") for part in ("models", "tasks", "text"))
SEEDS = os.path.join(ROOT, "tests", "fuzz", "seeds")
SECONDS, BYTES = 10, 2 << 30  # of processor time, and of memory
WAITING = 30  # seconds until a run is killed, which may wait for something or share its processor

# ---- what is run: DIR is the folder of the case, FILE its corpus or recipe, OUT a folder for output ----

TEXT = "the king is here\n"
PROMPT = ["--json", "--max-new-tokens", "6"]
USES = {  # verb -> (arguments, standard input)
    "generate": (["generate", "-m", "DIR", *PROMPT, "--greedy", "to be"], ""),
    "sample": (["generate", "-m", "DIR", *PROMPT, "--temperature", "1.5", "--seed", "1", "to be"], ""),
    "beam": (["generate", "-m", "DIR", *PROMPT, "--beam", "3", "to be"], ""),
    "defaults": (["generate", "-m", "DIR", "--json", "to be"], ""),
    "chat": (["chat", "-m", "DIR", *PROMPT], "to be\nor not\n"),
    "chat-prompt": (["chat", "-m", "DIR", "--render", "--messages", "FILES/messages.json", "--tools", "FILES/tools.json"], ""),
    "adapted": (["generate", "-m", f"{MODELS}/gpt2_tokenizer", "--adapter", "DIR", *PROMPT, "to be"], ""),
    "merge": (["convert", "-m", "DIR", "--merge", "-o", "OUT/merged"], ""),
    "gguf": (["generate", "-m", "DIR/model.gguf", *PROMPT, "to be"], ""),
    "gguf-score": (["score", "-m", "DIR/model.gguf", "--json", "to be or not to be"], ""),
    "gguf-tokens": (["tokenize", "-m", "DIR/model.gguf", "--json"], "The king, 42 times!\n"),
    "grammar": (["generate", "-m", f"{MODELS}/gpt2_tokenizer", *PROMPT, "--grammar", "FILE", "to be"], ""),
    "schema": (["generate", "-m", f"{MODELS}/gpt2_tokenizer", *PROMPT, "--json-schema", "FILE", "to be"], ""),
    "template": (["chat", "-m", f"{MODELS}/gpt2_tokenizer", "--render", "--messages", "FILES/messages.json", "--template", "FILE"], ""),
    "messages": (["chat", "-m", f"{MODELS}/gpt2_tokenizer", "--render", "--template", "FILES/template.jinja", "--messages", "FILE"], ""),
    "score": (["score", "-m", "DIR", "--json", "to be or not to be"], ""),
    "classify": (["classify", "-m", "DIR", "--json", "the king is here"], ""),
    "classify-words": (["classify", "-m", "DIR", "--attention", "the king is here"], ""),
    "classify-pair": (["classify", "-m", "DIR", "--json", "--pairs"], "the king is here\ta king\n"),
    "classify-aligned": (["classify", "-m", "DIR", "--attention", "--pairs"], "the king is here\ta king\n"),
    "attention-pair": (["attention", "-m", "DIR", "--json"], "the king is here\ta king\n"),
    "attention-question": (["attention", "-m", "DIR", "--json"], "who is it\tthe king is here\n"),
    "stories": (["answer", "-m", "DIR", "--json"], "Mary went to the hall.\nWhere is Mary?\n\nWho?\n"),
    "stories-hops": (["answer", "-m", "DIR", "--attention"], "Mary went to the hall.\nWhere is Mary?\n"),
    "run-algorithm": (["run-algorithm", "-m", "DIR", "--json", "--length", "3"], ""),
    "translate": (["translate", "-m", "DIR", "--json", "--alignments"], "essere o non\n\n" + "non essere " * 30 + "\n"),
    "summarize": (["summarize", "-m", "DIR", "--json"], "essere o non\n\n" + "non essere. " * 30 + "\n"),
    "nbest": (["translate", "-m", "DIR", "--json", "--beam", "3", "--nbest", "2"], "essere o non\n"),
    "answer": (["answer", "-m", "DIR", "--json", "-q", "who is it", "-t", "the king is here"], ""),
    "tag": (["tag", "-m", "DIR", "--json"], TEXT),
    "fill-mask": (["fill-mask", "-m", "DIR", "--json"], "the [MASK] is here\n"),
    "embed": (["embed", "-m", "DIR", "--json"], TEXT + "\n" + "x " * 600 + "\n"),
    "similar": (["similar", "-m", "DIR", "--json", "--query", "the king", "--texts", "-"], TEXT + "the end\n"),
    "attention": (["attention", "-m", "DIR", "--json", "the king is here"], ""),
    "tokenize": (["tokenize", "-m", "DIR", "--json"], "The king, 42 times!\n\n\u00e9\u4e2d\U0001f600\n"),
    "decode": (["tokenize", "-m", "DIR", "--decode"], "1 2 3 4 5\n"),
    "convert": (["convert", "-m", "DIR", "--int8", "-o", "OUT/int8"], ""),
    "corpus-convert": (["corpus", "convert", "FILE", "--from", "en", "--to", "it"], ""),
    "corpus-clean": (["corpus", "clean", "FILE", "--from", "en", "--to", "it", "--json", "-o", "OUT/x.tsv"], ""),
    "corpus-split": (["corpus", "split", "FILE", "--from", "en", "--to", "it", "--validation", "1", "--json", "-o",
                      "OUT/parts"], ""),
    "evaluate": (["evaluate", "--json", "-r", "FILE", "-i", "FILE"], ""),
    "evaluate-scores": (["evaluate", "--json", "--metric", "perplexity", "-i", "FILE"], ""),
    "tokenize-file": (["tokenize", "-m", os.path.join(TEXTS, "llama3"), "--json", "-i", "FILE"], ""),
    "embed-file": (["embed", "-m", os.path.join(TASKS, "sentence_mean"), "--json", "-i", "FILE"], ""),
    "classify-pairs": (["classify", "-m", os.path.join(TASKS, "bert_labels"), "--json", "--pairs", "-i", "FILE"], ""),
    "recipe": (["train", "translation", "--config", "FILE", "--train", "OUT/none.tsv", "-o", "OUT/model"], ""),
    "train": (["train", "classifier", "--train", "FILE", "--epochs", "1", "-o", "OUT/model"], ""),
}
WORDS = ["tokenize", "decode"]
FOLDERS = {  # folder -> verbs
    f"{MODELS}/gpt2_tokenizer": ["generate", "sample", "beam", "defaults", "chat", "score", "attention", *WORDS],
    f"{MODELS}/gpt2_labels": ["classify", "classify-words", "attention", "tokenize"],
    f"{MODELS}/marian_tokenizer": ["translate", "nbest", "attention", *WORDS],
    f"{MODELS}/t5_tokenizer": ["translate", "summarize", "nbest", "attention", *WORDS],
    f"{TASKS}/bert_answers": ["answer", "attention", "tokenize"],
    f"{TASKS}/bert_labels": ["classify", "classify-words", "attention"],
    f"{TASKS}/bert_several_labels": ["classify", "classify-words"],
    f"{TASKS}/bert_tags": ["tag", "attention"],
    f"{TASKS}/roberta_tags": ["tag", "tokenize"],
    f"{TASKS}/bert_words": ["fill-mask", "embed"],
    f"{TASKS}/roberta_words": ["fill-mask", "embed"],
    f"{TASKS}/sentence_dense": ["embed", "similar", "attention"],
    f"{TASKS}/sentence_mean": ["embed", "similar", "attention"],
    **{f"{MODELS}/{name}": ["convert"] for name in (
        "bart_forced", "bert_old_names", "bert_sharded", "bert_xlm_roberta", "gpt2_old_bin", "gpt2_switches",
        "marian_bin", "marian_old_bin", "marian_sharded", "t5_gated")},
    **{f"{TEXTS}/{name}": WORDS for name in (
        "bert_accents", "bert_cased", "gpt2", "gpt2_json", "gpt2_old", "llama2", "llama3", "marian", "mpnet", "roberta",
        "t5", "t5_spm", "words", "xlm_roberta", "xlm_roberta_spm")},
}
# What tests compare with, and what training leaves.
NOT_READ = ("expected.json", "translations.json", "golden.safetensors", "checkpoint.safetensors", "curve.csv", "curve.html",
            "recipe.toml", "train.tokens")
SMALL = ["--embedding", "8", "--hidden", "8", "--seed", "1"]
LABELLED = ["--epochs", "1", "--train", "DATA/train.tsv"]
TEXTS_DATA = {"train.tsv": "the king is here\tgood\na bad day. And the end.\tbad\none fine day\tgood\nawful\tbad\n"}
PAIR_DATA = {"train.tsv": "the king is here\ta king\tyes\na bad day\tone fine day\tno\nthe end\tthe end\tyes\nx\ty\tno\n"}
STORIES = "".join(f"1 Mary went to the {x}.\n2 John left the hall.\n3 Where is Mary?\t{x}\t1\n" for x in ["hall", "garden"] * 10)
TRAINED = {  # name -> arguments, training data, verbs: families without a folder among the tests' files
    "recurrent_classifier": (["train", "classifier", *LABELLED, *SMALL], TEXTS_DATA,
                             ["classify", "classify-words", "attention", "tokenize"]),
    "recurrent_translator": (["train", "translation", "--arch", "rnn", "--steps", "2", "--vocab-size", "40", *SMALL,
                              "--train", "DATA/train.tsv"],
                             {"train.tsv": "".join(f"essere o non {n}\tto be or not {n}\n" for n in range(40))},
                             ["translate", "nbest", "attention", *WORDS]),
    **{arch: (["train", "classifier", "--pairs", "--arch", arch, *LABELLED, *SMALL], PAIR_DATA,
              ["classify-pair", "classify-aligned", "attention-pair"]) for arch in ("decomposable", "esim")},
    **{arch.replace("-", "_"): (["train", "classifier", "--arch", arch, "--heads", "2", *LABELLED, *SMALL], TEXTS_DATA,
                                ["classify", "classify-words", "attention"])
       for arch in ("hierarchical", "hierarchical-transformer")},
    **{f"stories_{arch}": (["train", "memory", "--data", "DATA", "--epochs", "1", "--width", "8", "--arch", arch], {
        "qa1_x_train.txt": STORIES, "qa1_x_test.txt": STORIES}, ["stories", "stories-hops"])
       for arch in ("memory", "lstm", "transformer")},
    "llama": (["train", "language-model", "--arch", "llama", "--width", "16", "--heads", "2", "--layers", "1", "--context", "32",
               "--vocab-size", "300", "--steps", "2", "--seed", "1", "--train", "DATA/train.txt"],
              {"train.txt": "the king is here, to be or not to be\n" * 200},
              ["generate", "beam", "score", "attention", "convert", *WORDS]),
    "adapter": (["finetune", "language-model", "--from", f"{MODELS}/gpt2_tokenizer", "--lora", "2", "--steps", "2", "--seed", "1",
                 "--train", "DATA/train.txt"], {"train.txt": "to be or not to be\n" * 200}, ["adapted", "merge"]),
    "bidaf": (["train", "answer", "--train", "DATA/train.json", "--epochs", "1", "--filters", "8", *SMALL],
              {"train.json": json.dumps({"data": [{"title": "x", "paragraphs": [{"context": "the king is here", "qas": [
                  {"id": str(n), "question": "who is here", "answers": [{"text": "the king", "answer_start": 0}]}
                  for n in range(20)]}]}]})},
              ["answer", "attention-question"]),
    **{f"algorithm_{name}": (["train", "algorithm", "--task", "copy", "--steps", "2", "--batch", "2", "--max-length", "3",
                              "--hidden", "8", "--validation-sequences", "2", *more], {}, ["run-algorithm"])
       for name, more in (("ntm", ["--slots", "8", "--width", "4"]), ("dnc", ["--memory", "dnc", "--slots", "8"]),
                          ("lstm", ["--arch", "lstm", "--layers", "1"]))},
}
PAIRS = "corpus-convert", "corpus-clean", "corpus-split"
LINES = "evaluate", "evaluate-scores", "tokenize-file", "embed-file", "classify-pairs", "train"

FAMILIES = ("gemma2", "gpt_neox", "llama_bfloat16", "llama_float16", "llama_yarn", "mistral", "phi3", "phi3_long", "qwen2",
            "qwen3", "smollm3")  # their folders have no tokenizer, and get one of words
CHAT_TEMPLATE = """{{ bos_token }}{% for message in messages %}<{{ message.role }}>{{ message.content | trim }}{{ eos_token }}
{% endfor %}{% for tool in tools or [] %}{{ tool | tojson(indent=2) }}{% endfor %}"""
MESSAGES = [{"role": "system", "content": "be"}, {"role": "user", "content": "the king"}, {"role": "assistant", "content": None,
             "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"x": [1, "y"]}}}]}]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {
    "x": {"type": "array"}}, "required": ["x"]}}}]
GIVEN = {"messages.json": json.dumps(MESSAGES), "tools.json": json.dumps(TOOLS), "template.jinja": CHAT_TEMPLATE}
CONVERTED = f"{MODELS}/gpt2_tokenizer", f"{MODELS}/marian_tokenizer", f"{TASKS}/bert_labels", f"{TASKS}/sentence_mean"  # to int8


def tokenizer_of_words(size):
    """tokenizer.json with so many words."""
    words = ["<unk>", "<s>", "to", "be", "or", "not", "the", "king", "is", "here", *(f"w{n}" for n in range(10, size))]
    special = [{"id": n, "content": words[n], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                "special": True} for n in (0, 1)]
    return json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
                       "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
                       "model": {"type": "WordLevel", "vocab": {word: n for n, word in enumerate(words)}, "unk_token": "<unk>"}})


def make_families():
    """Adds a folder for each of FAMILIES, and a GGUF file of two models, to FOLDERS."""
    for name in FAMILIES:
        folder = os.path.join(flags.keep, "models", name)
        if not os.path.exists(folder):
            shutil.copytree(f"{MODELS}/{name}", folder)
            with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
                size = json.load(file)["vocab_size"]
            write(os.path.join(folder, "tokenizer.json"), tokenizer_of_words(size).encode())
            settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "w60", "chat_template": CHAT_TEMPLATE}
            write(os.path.join(folder, "tokenizer_config.json"), json.dumps(settings).encode())
        FOLDERS[folder] = ["generate", "beam", "score", "chat", "chat-prompt", "attention", "convert"]
    for name, source, more in (("gguf", os.path.join(flags.keep, "models", "llama"), []),
                               ("gguf_int8", f"{MODELS}/gpt2_tokenizer", ["--int8"])):
        folder = os.path.join(flags.keep, "models", name)
        if not os.path.exists(folder):
            os.makedirs(folder)
            subprocess.run([flags.program, "convert", "-m", source, *more, "-o", os.path.join(folder, "model.gguf")], check=True,
                           capture_output=True)
        FOLDERS[folder] = ["gguf", "gguf-score", "gguf-tokens"]


def make_models():
    """Trains the models of TRAINED and converts those of CONVERTED, once, and adds them to FOLDERS."""
    for name, text in GIVEN.items():
        os.makedirs(os.path.join(flags.keep, "given"), exist_ok=True)
        write(os.path.join(flags.keep, "given", name), text.encode())
    for name, (arguments, data, verbs) in TRAINED.items():
        folder = os.path.join(flags.keep, "models", name)
        if not os.path.exists(os.path.join(folder, "config.json")):
            for file, text in data.items():
                os.makedirs(folder + ".data", exist_ok=True)
                write(os.path.join(folder + ".data", file), text.encode())
            arguments = [argument.replace("DATA", folder + ".data") for argument in arguments]
            subprocess.run([flags.program, *arguments, "--output", folder, "--overwrite"], check=True, capture_output=True)
        FOLDERS[folder] = verbs
    for source in CONVERTED:
        folder = os.path.join(flags.keep, "models", os.path.basename(source) + "_int8")
        if not os.path.exists(os.path.join(folder, "config.json")):
            subprocess.run([flags.program, "convert", "--int8", "-m", source, "-o", folder], check=True, capture_output=True)
        FOLDERS[folder] = FOLDERS[source]
    make_families()


def files_of(folder):
    found = []
    for path, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(path, name), folder) for name in names if name not in NOT_READ]
    return sorted(found)


# ---- JSON: every key × many values ----

MISSING, DEEP = "missing", 100_000
VALUES = [MISSING, "null", "true", "false", "0", "-1", "1", "2", "3", "1000", "2147483647", "2147483648",
          "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1" + "0" * 40, "1e308", "-1e308", "1e999",
          "0.5", "1e-300", "-0.0", "NaN", "Infinity", '""', '"x"', '"gelu"', '"' + "a" * 100_000 + '"', '" "',
          '"\\u001b[31mred\\u0007\\u0000"', '"\\ud800"', '"\x1b[2J"', '"../../../etc/passwd"', '"/"', "[]", "{}", "[[]]",
          "[0]", '["a"]', "[null]", '{"a": {"b": [1]}}', "[-1, 2147483648]", "[" * DEEP + "]" * DEEP,
          '{"a":' * DEEP + "1" + "}" * DEEP, "[" + "0," * 200_000 + "0]"]


def paths_in(value, path=()):
    """The paths of all values. Of a long list or table, only the first, the second and the last."""
    if path:
        yield path
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    if len(keys) > 40 or (isinstance(value, list) and len(keys) > 4):
        keys = [keys[0], keys[1], keys[-1]]
    for key in keys:
        yield from paths_in(value[key], (*path, key))


def with_value(text, path, raw):
    document = json.loads(text)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if raw == MISSING:
        del holder[path[-1]]
        return json.dumps(document, ensure_ascii=False).encode()
    holder[path[-1]] = "\ue000mark\ue000"
    return json.dumps(document, ensure_ascii=False).replace('"\ue000mark\ue000"', raw).encode()


# ---- bytes ----

DAMAGES = ("cut", "flip", "flips", "double", "garble", "insert", "zeros", "drop", "swap")
PIECES = (b"\x00", b"\xff" * 8, b"\x1b[2J", b"\xed\xa0\x80", b"\n", b"\t" * 100, b'"', b"}" * 3, b"\xf0\x9f", b"-1", b"9" * 30,
          b"\x7f\xff\xff\xff", b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")


def damaged(data, how, chance):
    size = len(data)
    at = chance.randrange(size + 1)
    length = min(size - at, chance.choice((1, 2, 8, 64, 1024)))
    if how == "cut":
        return data[:at]
    if how == "drop":
        return data[:at] + data[at + length:]
    if how == "double":
        return data[:at] + data[at:at + length] * chance.choice((2, 3, 100)) + data[at + length:]
    if how == "garble":
        return data[:at] + chance.randbytes(length) + data[at + length:]
    if how == "zeros":
        return data[:at] + bytes(length) + data[at + length:]
    if how == "insert":
        return data[:at] + chance.choice(PIECES) + data[at:]
    if how == "swap":
        return data[at:] + data[:at]
    out = bytearray(data)
    for _ in range(1 if how == "flip" else 20):
        if out:
            # Half of the flips are at the beginning, where headers are.
            out[chance.randrange(min(len(out), chance.choice((256, len(out)))))] ^= 1 << chance.randrange(8)
    return bytes(out)


# ---- files ----

FILES = ("missing", "empty", "folder", "fifo", "loop", "dangling", "zero", "sparse", "other")

# ---- tensors of a safetensors file ----

SIZES = {"F32": 4, "I64": 8, "F16": 2, "BF16": 2, "I32": 4, "F64": 8, "U8": 1, "BOOL": 1, "I8": 1}
TENSORS = ("missing", "renamed", "F16", "BF16", "F64", "I64", "I32", "U8", "BOOL", "F8_E4M3", "flat", "transposed", "scalar",
           "deep", "zero-rows", "negative", "overlapping", "beyond", "reversed", "more", "one-more-row", "nan", "one-nan",
           "inf", "minus-inf", "huge", "tiny", "all-zero")
POISONS = "nan", "one-nan"


def tensors_of(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + size]), data[8 + size:]


def with_tensor(path, name, how):
    header, data = tensors_of(path)
    data = bytearray(data)
    one = header[name]
    begin, end = one["data_offsets"]
    count = (end - begin) // SIZES[one["dtype"]]
    fills = {"nan": float("nan"), "inf": float("inf"), "minus-inf": float("-inf"), "huge": 3e38, "tiny": 1e-40, "all-zero": 0.0}
    if how in fills and one["dtype"] == "F32":
        data[begin:end] = struct.pack("<f", fills[how]) * count
    elif how == "one-nan" and one["dtype"] == "F32":
        data[begin:begin + 4] = struct.pack("<f", float("nan"))
    elif how == "missing":
        del header[name]
    elif how == "renamed":
        header[name + "\x1b[31m"] = header.pop(name)
    elif how in SIZES or how == "F8_E4M3":
        one["dtype"] = how
        if how in SIZES and count * SIZES[how] != end - begin:  # with room for its elements
            header[name]["data_offsets"] = [len(data), len(data) + count * SIZES[how]]
            data += bytes(count * SIZES[how])
    elif how == "overlapping":
        others = [key for key in header if key != "__metadata__"]
        one["data_offsets"] = [0, end - begin] if name != others[0] else [4, end - begin + 4]
    else:
        shapes = {"flat": [count], "transposed": one["shape"][::-1], "scalar": [], "deep": [1] * 40 + one["shape"],
                  "zero-rows": [0, *one["shape"]], "negative": [-1, *one["shape"]], "more": [2**40, 2**40],
                  "one-more-row": [n + 1 for n in one["shape"]]}
        if how in shapes:
            one["shape"] = shapes[how]
        if how == "beyond":
            one["data_offsets"] = [begin, 2**63 - 1]
        if how == "reversed":
            one["data_offsets"] = [end, begin]
        if how == "zero-rows":
            one["data_offsets"] = [begin, begin]
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(data)


def matters(verb, how, name):
    """Whether the answer of a verb depends on this tensor, so that a NaN in it must be noticed."""
    if verb in ("tokenize", "decode", "convert", "merge", "chat-prompt"):  # they give no numbers
        return False
    if re.search(r"seq_relationship|relative_attention_bias|lm_head\.decoder|predictions\.decoder", name):
        return how == "nan" and "bias" not in name and "seq_relationship" not in name
    if re.match(r"cls\.|lm_head", name) and verb == "embed":
        return False
    if "pooler" in name:
        return verb in ("classify", "classify-words")
    if "embed" in name or re.search(r"wte|wpe|shared", name):  # of tokens and positions that may not occur
        return how == "nan"
    if "sentences.recurrent.weight_hh" in name:  # the text of the verbs has one sentence
        return False
    return not verb.startswith("attention")  # which stops at the weights of the last layer


# ---- corpora ----

SAMPLES = {
    "tsv": b"one\tuno\ntwo words\tdue parole\nthree, \"four\"\ttre\n",
    "csv": b'one,uno\n"two, words","due ""parole"""\nthree,tre\n',
    "jsonl": b'{"source": "one", "target": "uno"}\n{"source": "two\\u0041", "target": "due"}\n',
    "txt": b"one\ntwo words\nthree \xc3\xa9\n",
    "scores.jsonl": b'{"text": "one", "logprobs": [null, -1.5], "logprob": -1.5}\n{"text": "two", "logprobs": [-0.5], "logprob": -0.5}\n',
    "labels.tsv": b"one fine day\tgood\na bad day\tbad\nfine\tgood\nawful\tbad\n",
}
LONG = 2 << 20


def hostile_corpora():
    return {
        "invalid.tsv": b"\xff\xfe\xfd\t\xc0\x80\n\xed\xa0\x80\tx\n" * 100,
        "nul.tsv": b"a\x00b\tc\x00d\n\x00\n",
        "endless.tsv": b"a" * LONG, "endless.txt": b"a" * LONG, "words.txt": b"a b " * (LONG // 64),
        "endless.csv": b'"' + b"a" * LONG, "endless.jsonl": b'{"source": "' + b"a" * LONG,
        "endless.po": b'msgid "' + b"a" * LONG, "endless.tmx": b"<tmx><body><tu><tuv xml:lang='en'><seg>" + b"a" * LONG,
        "endless.xliff": b"<xliff version='1.2'><file source-language='en' target-language='it'><body><trans-unit><source>" +
                         b"b" * LONG,
        "tabs.tsv": b"\t" * (2 << 20), "tabs.txt": b"\t" * (2 << 20), "commas.csv": b"," * (2 << 20),
        "quotes.csv": b'"' * (2 << 20), "newlines.tsv": b"\n" * (1 << 17), "newlines.csv": b"\n" * (2 << 20),
        "returns.tsv": b"\r" * (2 << 20), "deep.jsonl": b"[" * (2 << 20), "deep2.jsonl": b'{"source":' * (1 << 18),
        "numbers.jsonl": b'{"source": 1e999, "target": -0}\n{"source": null, "target": []}\n' * 3,
        "surrogate.jsonl": b'{"source": "\\ud800", "target": "\\u0000\\u001b[2J"}\n' * 3,
        "nested.tmx": b"<tmx><body>" + b"<tu>" * (1 << 18), "nested.xliff": b"<xliff>" + b"<g>" * (1 << 18),
        "nested-seg.tmx": b"<tmx><body><tu><tuv xml:lang='en'><seg>" + b"<hi>" * (1 << 18),
        "attributes.tmx": b"<tmx " + b"".join(b"a%d='x' " % i for i in range(100_000)) + b"/>",
        "laughs.tmx": b"<!DOCTYPE t [<!ENTITY a '" + b"x" * 1000 + b"'>" + b"".join(
            b"<!ENTITY %c '%s'>" % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9)) + b"]><tmx><body><tu><tuv xml:lang='en'>"
            b"<seg>&j;</seg></tuv></tu></body></tmx>",
        "external.tmx": b"<!DOCTYPE t [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><tmx><body><tu><tuv xml:lang='en'><seg>&a;</seg>"
                        b"</tuv><tuv xml:lang='it'><seg>x</seg></tuv></tu></body></tmx>",
        "charset.po": b'msgid ""\nmsgstr "Content-Type: text/plain; charset=no-such-charset\\n"\nmsgid "a"\nmsgstr "b"\n',
        "plural.po": b'msgid ""\nmsgstr "Plural-Forms: nplurals=99999999999; plural=((((((((n;\\n"\nmsgid "a"\nmsgid_plural "b"\n'
                     b'msgstr[99999999999999] "c"\nmsgstr[-1] "d"\n',
        "escape.tsv": b"\x1b]0;title\x07\x1b[2J\tb\n", "empty.tsv": b"", "empty.tmx": b"", "empty.po": b"", "empty.jsonl": b"",
        "empty.csv": b"", "empty.xliff": b"", "empty.mo": b"", "one.mo": b"\xde\x12\x04\x95" + b"\xff" * 24,
        "archive.tsv": b"\x1f\x8b\x08\x00" + b"\x55" * 500, "zstd.jsonl": b"\x28\xb5\x2f\xfd" + b"\x55" * 500,
    }


def asked():
    """What comes with a request: conversations, templates, grammars and schemas. Name -> (verb, text)."""
    found = {"messages.json": ("messages", GIVEN["messages.json"])}
    for group in ("chat_template", "grammar"):
        for name in sorted(os.listdir(os.path.join(SEEDS, group))):
            with open(os.path.join(SEEDS, group, name), encoding="utf-8") as file:
                verb = "template" if group == "chat_template" else "schema" if name.endswith(".json") else "grammar"
                found[name] = verb, file.read()
    return found


# ---- recipes ----

RECIPES = ("=", "a", "[", "[[x]]", "width = ", 'width = "', "width = 1e999", "width = -1", "width = 99999999999999999999",
           "width = nan", "width = [1, 2]", "width = {a = 1}", "width = true", 'width = "wide"', "no-such-flag = 1",
           'arch = "\\u001b[31m"', 'arch = "\\ud800"', "dropout = 1.5", "epochs = 0", "epochs = 1979-05-27", "config = 'x'",
           "width = 1\nwidth = 2", "\x00", "\xff", "[a]\nb = 1", "a.b.c = 1", '"' * 99, "x = " + "[" * DEEP, "# " + "a" * LONG,
           "a" * LONG + " = 1", "heads = 0", "heads = 7", "vocab-size = 2147483648", "learning-rate = inf", "seed = -1",
           "threads = 100000", "output = '/'", "batch-tokens = 0", 'schedule = """', "arch = '''", "= = =", "width == 1")

# ---- cases ----

Case = collections.namedtuple("Case", "kind verb place how")  # `place` and `how` say what is changed, and how


def all_cases():
    """The cases of each kind."""
    cases = collections.defaultdict(list)
    for folder, verbs in FOLDERS.items():
        name = os.path.relpath(folder, ROOT)
        for file in files_of(folder):
            path = os.path.join(folder, file)
            if file.endswith(".json"):
                with open(path, encoding="utf-8") as opened:
                    text = opened.read()
                kind = "tokenizer" if file in ("tokenizer.json", "vocab.json") else "config"
                for place, value, verb in itertools.product(paths_in(json.loads(text)), range(len(VALUES)), verbs):
                    cases[kind].append(Case(kind, verb, (name, file, place), value))
            for how, n, verb in itertools.product(DAMAGES, range(60 if file.endswith(".gguf") else 6), verbs):
                cases["bytes"].append(Case("bytes", verb, (name, file), (how, n)))
            for how, verb in itertools.product(FILES, verbs):
                cases["files"].append(Case("files", verb, (name, file), how))
            if file.endswith(".safetensors"):
                for (tensor, header), how, verb in itertools.product(tensors_of(path)[0].items(), TENSORS, verbs):
                    if tensor != "__metadata__":
                        poison = how in POISONS and header["dtype"] == "F32" and matters(verb, how, tensor)
                        kind = "poison" if poison else "tensors"
                        cases[kind].append(Case(kind, verb, (name, file, tensor), how))
    for file, data in hostile_corpora().items():
        for verb in (*PAIRS, *LINES):
            cases["corpora"].append(Case("corpora", verb, ("made", file), "as it is"))
    samples = [("sample", name) for name in SAMPLES]
    for group, ending in (("csv", "csv"), ("json_lines", "jsonl"), ("mo", "mo"), ("po", "po"), ("tmx", "tmx"), ("xliff", "xliff")):
        samples += [(group, f"{file}:{ending}") for file in sorted(os.listdir(os.path.join(SEEDS, group)))]
    for (group, file), how, n in itertools.product(samples, DAMAGES, range(20)):
        for verb in PAIRS if group != "sample" else (*PAIRS, *LINES):
            cases["corpora"].append(Case("corpora", verb, (group, file), (how, n)))
    for name, (verb, text) in asked().items():
        for how, n in itertools.product(DAMAGES, range(20)):
            cases["asked"].append(Case("asked", verb, ("asked", name), (how, n)))
        for place, value in itertools.product(paths_in(json.loads(text)) if name.endswith(".json") else (), range(len(VALUES))):
            cases["asked"].append(Case("asked", verb, ("asked", name, place), value))
    for n, _ in enumerate(RECIPES):
        cases["recipes"].append(Case("recipes", "recipe", ("made", "recipe.toml"), n))
    for file, how, n in itertools.product(sorted(os.listdir(os.path.join(ROOT, "recipes"))), DAMAGES, range(20)):
        cases["recipes"].append(Case("recipes", "recipe", ("recipes", file), (how, n)))
    return cases


def id_of(case):
    return hashlib.sha1(repr(case).encode()).hexdigest()[:10]


def in_order(cases, seed):
    """All cases: of each kind in turn, so that a short run has some of each."""
    chance = random.Random(seed)
    lists = [cases[kind] for kind in sorted(cases)]
    for one in lists:
        chance.shuffle(one)
    return [case for row in itertools.zip_longest(*lists) for case in row if case is not None]


def copy_of(folder, to):
    """A copy whose files are links, since only one of them will be replaced."""
    for path, folders, names in os.walk(folder):
        inner = os.path.join(to, os.path.relpath(path, folder))
        os.makedirs(inner, exist_ok=True)
        for name in names:
            if name not in NOT_READ:
                os.symlink(os.path.join(path, name), os.path.join(inner, name))


def write(path, data):
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(data)


def make(case, work):
    """Makes the folder or file of a case under `work`, and returns its path."""
    chance = random.Random(repr(case[2:]))
    if case.kind in ("corpora", "recipes", "asked"):
        group, name = case.place[:2]
        if case.kind == "recipes":
            data = RECIPES[case.how].encode("latin-1") if group == "made" else open(os.path.join(ROOT, "recipes", name), "rb").read()
        elif case.kind == "asked":
            data = asked()[name][1].encode()
            if len(case.place) == 3:
                data = with_value(data.decode(), case.place[2], VALUES[case.how])
        elif group == "made":
            data = hostile_corpora()[name]
        elif group == "sample":
            data = SAMPLES[name]
            name = "sample." + name
        else:
            name, ending = name.split(":")
            data = open(os.path.join(SEEDS, group, name), "rb").read()
            name += "." + ending
        if isinstance(case.how, tuple):
            data = damaged(data, case.how[0], chance)
        path = os.path.join(work, name)
        write(path, data)
        return path
    folder, file = case.place[:2]
    copy_of(os.path.join(ROOT, folder), os.path.join(work, "model"))
    path = os.path.join(work, "model", file)
    with open(path, "rb") as opened:
        data = opened.read()
    if case.kind in ("config", "tokenizer"):
        write(path, with_value(data.decode(), case.place[2], VALUES[case.how]))
    elif case.kind == "bytes":
        write(path, damaged(data, case.how[0], chance))
    elif case.kind in ("tensors", "poison"):
        write(path, with_tensor(path, case.place[2], case.how))
    else:
        os.unlink(path)
        if case.how == "empty":
            write(path, b"")
        elif case.how == "folder":
            os.mkdir(path)
        elif case.how == "fifo":
            os.mkfifo(path)
        elif case.how == "loop":
            os.symlink(os.path.basename(path), path)
        elif case.how == "dangling":
            os.symlink("nowhere", path)
        elif case.how == "zero":
            os.symlink("/dev/zero", path)
        elif case.how == "sparse":
            with open(path, "wb") as opened:
                opened.truncate(64 << 20)
        elif case.how == "other":
            others = [other for other in files_of(os.path.join(ROOT, folder)) if other != file]
            shutil.copy(os.path.join(ROOT, folder, chance.choice(others)), path) if others else write(path, b"other")
    return os.path.join(work, "model")


# ---- a run, and what is wrong with it ----

FOREIGN = re.compile(rb"_M_|basic_string|vector::|max_size|\bsto[ild]+\b|json\.exception|std::|bad_alloc|unexpected:|locale::|"
                     rb"filesystem error|terminate called|regex_error")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MOST_WORDS = 8192  # bytes of an error message


class Run:
    def __init__(self, command, given, work):
        self.command = command
        self.late = False
        with open(os.path.join(work, "in"), "wb") as file:
            file.write(given.encode())
        paths = [os.path.join(work, name) for name in ("in", "stdout", "stderr")]
        with open(paths[0], "rb") as given, open(paths[1], "wb") as out, open(paths[2], "wb") as err:
            child = subprocess.Popen(command, stdin=given, stdout=out, stderr=err, cwd=work, start_new_session=True)
        resource.prlimit(child.pid, resource.RLIMIT_CPU, (SECONDS, SECONDS + 2))
        waiter = select.poll()
        descriptor = os.pidfd_open(child.pid)
        waiter.register(descriptor, select.POLLIN)
        if not waiter.poll(WAITING * 1000):
            self.late = True
            os.kill(child.pid, signal.SIGKILL)
        _, status, used = os.wait4(child.pid, 0)
        os.close(descriptor)
        child.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.bytes = used.ru_maxrss * 1024
        self.seconds = used.ru_utime + used.ru_stime
        self.out, self.err = (open(path, "rb").read() for path in paths[1:])


def not_json(text):
    raise ValueError(text)


def wrong(case, run):
    """What is wrong with a run; nothing: None."""
    if run.late or run.code == -signal.SIGXCPU:
        return f"did not end after {SECONDS} s of work, or {WAITING} s of waiting"
    if run.code < 0:
        return f"ended by {signal.Signals(-run.code).name}"
    if run.bytes > BYTES:
        return f"took {run.bytes >> 20} MB"
    if run.code not in (0, 2):
        return f"exit code {run.code}"
    if found := FOREIGN.search(run.err):
        return f"a foreign text: {found[0].decode()}"
    if CONTROL.search(run.err):
        return "control characters on standard error"
    if len(run.err) > MOST_WORDS:
        return "an endless message"
    if run.code == 2 and not run.err.strip():
        return "no message"
    if run.code == 0 and case.kind == "poison":
        return "answers with damaged weights"
    if "--json" in run.command:
        for line in run.out.splitlines():
            try:
                json.loads(line.decode(), parse_constant=not_json)
            except (ValueError, RecursionError) as error:
                return f"no JSON: {error}"
    return None


def limit():
    """The limits that all runs of a worker inherit. Address space is not memory: libraries and weights are mapped."""
    resource.setrlimit(resource.RLIMIT_AS, (32 << 30, 32 << 30))
    resource.setrlimit(resource.RLIMIT_DATA, (2 * BYTES, 2 * BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", LC_ALL="C.UTF-8")


def command_of(case, path, work):
    arguments, given = USES[case.verb]
    out = os.path.join(work, "out")
    os.makedirs(out, exist_ok=True)
    folders = {"DIR": path, "FILE": path, "OUT": out, "FILES": os.path.join(flags.keep, "given")}
    return [flags.program] + ["/".join([folders.get(first, first), *rest]) for first, *rest in (word.split("/") for word in arguments)], given


def tried(case):
    """Runs a case, unless the time is over. Returns what is wrong with it, the first line of its message, and its seconds."""
    if time.monotonic() > flags.end:
        return None
    work = tempfile.mkdtemp(prefix="hostile-", dir=flags.work)
    try:
        command, given = command_of(case, make(case, work), work)
        run = Run(command, given, work)
        problem = wrong(case, run)
        if problem:
            keep(case, run, problem, work)
        return case, problem, shown(run.err.decode(errors="replace").split("\n")[0]), run.seconds
    finally:
        shutil.rmtree(work, ignore_errors=True)


def keep(case, run, problem, work):
    folder = os.path.join(flags.keep, id_of(case))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "case.txt"), "w", encoding="utf-8") as file:
        file.write(f"{problem}\n{described(case)}\n{' '.join(run.command)}\n{repeat(case)}\n")
    for name in ("in", "stdout", "stderr"):
        shutil.copy(os.path.join(work, name), folder)


def described(case):
    how = VALUES[case.how] if case.kind in ("config", "tokenizer") or len(case.place) == 3 and case.kind == "asked" else RECIPES[case.how] if case.place[0] == "made" and case.kind == "recipes" else case.how
    place = [".".join(map(str, part)) if isinstance(part, tuple) else part for part in case.place]
    text = f"{case.verb}: {' '.join(place)}: {how}"
    return shown(text)


def shown(text):
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[:200])


def repeat(case):
    return f"{sys.argv[0]} --program {flags.program} --keep {flags.keep} --only {id_of(case)}"


def part(text):
    k, n = map(int, text.split("/"))
    if not 1 <= k <= n:
        raise argparse.ArgumentTypeError("expected k/n with k from 1 to n")
    return k, n


def main():
    begin = time.monotonic()
    flags.end = begin + flags.seconds
    make_models()
    order = in_order(all_cases(), flags.seed)
    if flags.only:
        case = next(case for case in order if id_of(case) == flags.only)
        limit()
        work = os.path.join(flags.keep, "only")
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        command, given = command_of(case, make(case, work), work)
        print(described(case), "\n", " ".join(command), sep="")
        run = Run(command, given, work)
        print(f"exit code {run.code}, {run.seconds:.1f} s, {run.bytes >> 20} MB")
        print(repr(run.out[:2000]), repr(run.err[:2000]), sep="\n")
        problem = wrong(case, run)
        print(problem or "as it should be")
        return 1 if problem else 0
    if flags.kind:
        order = [case for case in order if case.kind == flags.kind]
    if flags.match:
        order = [case for case in order if flags.match in described(case)]
    number, parts = flags.part
    count = min(flags.cases, len(order))
    chosen = order[count * (number - 1) // parts:count * number // parts]  # neighbours are of different kinds
    counts, problems = collections.Counter(), collections.Counter()
    slowest = (0, None)
    with multiprocessing.Pool(flags.workers, limit) as pool:
        for case, problem, words, seconds in filter(None, pool.imap_unordered(tried, chosen, 4)):
            counts[case.kind] += 1
            slowest = max(slowest, (seconds, described(case)))
            if problem:
                problems[f"{case.verb}: {problem}"] += 1
                print(f"FAILED {id_of(case)} {problem}\n  {described(case)}\n  {words}\n  {repeat(case)}", flush=True)
    done = sum(counts.values())
    print(f"{done} of {len(order)} cases in {time.monotonic() - begin:.0f} s: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    print(f"slowest: {slowest[0]:.1f} s of processor time, {slowest[1]}")
    for problem, count in problems.most_common():
        print(f"{count:6} {problem}")
    print(f"{sum(problems.values())} failures" + (f", kept in {flags.keep}" if problems else ""))
    return 1 if problems else 0


parser = argparse.ArgumentParser()
parser.add_argument("--program", default=os.path.join(ROOT, "build", "release", "attend"))
parser.add_argument("--cases", type=int, default=20_000, help="number of cases of all parts together")
parser.add_argument("--seconds", type=float, default=3600, help="stop after this time, with what was done until then")
parser.add_argument("--part", type=part, default=(1, 1), metavar="K/N", help="run only the K-th of N parts")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--kind", help="only cases of this kind: config, tokenizer, bytes, files, tensors, poison, corpora, recipes or asked")
parser.add_argument("--match", metavar="TEXT", help="only cases whose description contains this text")
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--only", metavar="ID", help="repeat one case")
parser.add_argument("--keep", default=os.path.join(ROOT, "build", "hostile"), help="folder of the failures")
parser.add_argument("--work", default=None, help="folder for temporary files")
flags = parser.parse_args()
flags.program, flags.keep = os.path.abspath(flags.program), os.path.abspath(flags.keep)
os.makedirs(flags.keep, exist_ok=True)
if __name__ == "__main__":
    sys.exit(main())
