#!/usr/bin/env python3
# Compares language models with llama.cpp, with 2 threads: generation of one sequence, and for Llama the processing of a prompt. Both
# run alternately, and the best of each is used. On both sides, generation is 128 steps of one token, without a prompt.
#   LLAMA_BENCH="command that runs llama-bench" bench/llama_cpp.py FOLDER
# FOLDER: a Hugging Face folder with the shape of the jobs and a tokenizer: GPT-2 with 124 million parameters, or SmolLM2-135M
# (bench/llama_folder.py makes one). The weights may be random.
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD = os.environ.get("ATTEND_BUILD", "build/release")
LLAMA = os.environ.get("LLAMA_BENCH", "llama-bench").split()
ROUNDS, THREADS = 3, 2
# name, job, flags of attend convert, tokens of the prompt (0: generate 128 tokens), bar
JOBS = {
    "gpt2": [("float32", "gpt2.decode.124m.1x128", [], 0, 1.0), ("int8", "gpt2.decode.124m.int8.1x128", ["--int8"], 0, 1.3)],
    "llama": [("float32", "llama.decode.135m.1x128", [], 0, 1.1), ("bf16", "llama.decode.135m.bf16.1x128", ["--bf16"], 0, 1.1),
              ("prompt float32", "llama.prompt.135m.512", [], 512, 1.3), ("prompt bf16", "llama.prompt.135m.bf16.512", ["--bf16"], 512, 1.3)],
}


def ours(program, job, tokens):
    answer = subprocess.run([f"{BUILD}/bench/{program}_bench"], input=job + "\n", check=True, capture_output=True, text=True,
                            env={**os.environ, "OMP_NUM_THREADS": str(THREADS)}).stdout
    return tokens / float(answer.split()[-1])


def theirs(path, prompt):
    tokens = ["-p", str(prompt), "-n", "0"] if prompt else ["-p", "0", "-n", "128"]
    answer = subprocess.run(LLAMA + ["-m", path, "-t", str(THREADS), *tokens, "-r", "1", "-o", "json"], check=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True).stdout
    return json.loads(answer)[0]["avg_ts"]


program = json.loads((pathlib.Path(sys.argv[1]) / "config.json").read_text())["model_type"]
with tempfile.TemporaryDirectory(dir=".") as here:
    print(f"{'tokens/s':16} {'ours':>8} {'llama.cpp':>10} {'ratio':>7} {'bar':>6}")
    for name, job, flags, prompt, bar in JOBS[program]:
        path = os.path.abspath(f"{here}/model{''.join(flags)}.gguf")
        if not os.path.exists(path):
            subprocess.run([f"{BUILD}/attend", "convert", "--model", sys.argv[1], *flags, "--output", path], check=True,
                           stderr=subprocess.DEVNULL)
        we, they = 0, 0
        for _ in range(ROUNDS):
            we, they = max(we, ours(program, job, prompt or 128)), max(they, theirs(path, prompt))
        print(f"{name:16} {we:8.1f} {they:10.1f} {we / they:7.2f} {bar:6.2f}", flush=True)
