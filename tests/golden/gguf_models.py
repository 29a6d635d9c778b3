#!/usr/bin/env python3
# Checks that Attend opens the GGUF files of others: makes small random models of all families with transformers, and
# converts them with llama.cpp's own script. Greedy texts must be the same from the folder and from the file, and those of
# llama.cpp. The files in other precisions, made by llama-quantize, must load and stay close.
#   VOCABULARY=FOLDER python3 tests/golden/gguf_models.py make OUT      among the peers; FOLDER has GPT-2's vocabulary
#   ATTEND=build/release/attend LLAMA=llama-completion python3 tests/golden/gguf_models.py check OUT
import json
import os
import pathlib
import shutil
import subprocess
import sys

TYPES = ["Q8_0", "Q4_0", "Q4_K_M", "Q5_K_M", "Q6_K"]
PROMPTS = ["The meaning of life is", "Once upon a time, there", "What is it?  "]
TOKENS = "12"
out = pathlib.Path(sys.argv[2])


def make():
    import sentencepiece
    import torch
    import transformers as t
    from transformers import GPT2TokenizerFast

    vocabulary = pathlib.Path(os.environ["VOCABULARY"])
    pieces = out / "tokenizer.model"
    out.mkdir(exist_ok=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(str(line) for line in pathlib.Path(__file__).with_name("ops.py").read_text().splitlines()),
        model_writer=open(pieces, "wb"), model_type="bpe", vocab_size=400, byte_fallback=True, normalization_rule_name="identity",
        remove_extra_whitespaces=False, split_digits=True, minloglevel=2)
    small = dict(vocab_size=400, bos_token_id=1, eos_token_id=2)
    sizes = dict(vocab_size=50257, hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=4,
                 num_key_value_heads=2, max_position_embeddings=128, bos_token_id=50256, eos_token_id=50256,
                 pad_token_id=None, initializer_range=0.1)
    neox = {key: value for key, value in sizes.items() if key != "num_key_value_heads"}
    llama3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192,
                  rope_theta=500000.0)
    models = {
        "llama": t.LlamaForCausalLM(t.LlamaConfig(**sizes)),
        "llama3": t.LlamaForCausalLM(t.LlamaConfig(**sizes, rope_parameters=llama3, tie_word_embeddings=True)),
        "mistral": t.MistralForCausalLM(t.MistralConfig(**sizes, sliding_window=None)),
        "qwen3": t.Qwen3ForCausalLM(t.Qwen3Config(**sizes, head_dim=128)),
        "smollm3": t.SmolLM3ForCausalLM(t.SmolLM3Config(**sizes)),
        "gemma2": t.Gemma2ForCausalLM(t.Gemma2Config(**(sizes | small), head_dim=64, query_pre_attn_scalar=64, sliding_window=8)),
        "phi3": t.Phi3ForCausalLM(t.Phi3Config(**sizes)),
        "gpt_neox": t.GPTNeoXForCausalLM(t.GPTNeoXConfig(**neox)),
        "llama_pieces": t.LlamaForCausalLM(t.LlamaConfig(**(sizes | small))),
        "gpt2": t.GPT2LMHeadModel(t.GPT2Config(n_embd=256, n_layer=4, n_head=4, n_positions=128, initializer_range=0.1)),
    }
    script = "/usr/share/doc/llama.cpp-tools/scripts/convert_hf_to_gguf.py"
    for name, model in models.items():
        folder = out / name
        torch.manual_seed(1)
        for parameter in model.parameters():
            if parameter.dim() == 1:
                torch.nn.init.normal_(parameter, 0.0 if name == "gemma2" else 1.0, 0.2)
        model.save_pretrained(folder)
        config = json.loads((folder / "config.json").read_text())
        # The script wants the old keys.
        config |= {"gpt_neox": {"rotary_pct": 0.25, "use_parallel_residual": True}, "gpt2": {"n_ctx": 128}}.get(name, {})
        (folder / "config.json").write_text(json.dumps(config))
        if name in ("gemma2", "llama_pieces"):
            shutil.copy(pieces, folder / "tokenizer.model")
        else:
            GPT2TokenizerFast.from_pretrained(str(vocabulary)).save_pretrained(folder)
            for extra in ("vocab.json", "merges.txt"):
                shutil.copy(vocabulary / extra, folder)
        done = subprocess.run([sys.executable, script, str(folder), "--outtype", "f32", "--outfile", str(out / f"{name}.gguf")],
                              capture_output=True, text=True)
        print(name, "converted" if done.returncode == 0 else done.stderr[-600:], flush=True)
    for kind in TYPES:
        subprocess.run(["llama-quantize", str(out / "llama.gguf"), str(out / f"llama.{kind}.gguf"), kind], check=True,
                       capture_output=True)


def text(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    return done.stdout if done.returncode == 0 else "error: " + done.stderr.strip()


def check():
    attend = os.environ.get("ATTEND", "build/release/attend")
    llama = os.environ.get("LLAMA", "llama-completion").split()
    wrong = 0
    for path in sorted(out.glob("*.gguf")):
        folder = out / path.name.split(".")[0]
        exact = path.stem == folder.name
        for prompt in PROMPTS if exact else PROMPTS[:1]:
            greedy = ["generate", "--greedy", "--ignore-eos", "--echo", "--max-new-tokens", TOKENS, "--model"]
            ours = text([attend, *greedy, str(path), prompt])
            if not exact:
                score = lambda model: json.loads(text([attend, "score", "--json", "--model", str(model), prompt]))["logprob"]
                difference = abs(score(path) - score(folder))
                same = difference < 2
                print(f"{path.name}: log-probability differs by {difference:.3f}: {'close' if same else 'FAR'}", flush=True)
            else:
                own = text([attend, *greedy, str(folder), prompt])
                theirs = text([*llama, "-m", str(path), "-n", TOKENS, "--temp", "0", "--ignore-eos", "-no-cnv", "--no-warmup", "-p", prompt])
                # Both print bytes that are no UTF-8 in their own way.
                same = ours.strip() == own.strip() and ("\ufffd" in own or ours.strip() == theirs.strip())
                print(f"{path.name}: {prompt!r}: {'the same' if same else f'file {ours!r}, folder {own!r}, llama.cpp {theirs!r}'}", flush=True)
            wrong += not same
    sys.exit(wrong > 0)


make() if sys.argv[1] == "make" else check()
