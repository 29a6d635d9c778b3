#!/usr/bin/env python3
# Compares generation with llama.cpp: float32 and int8 (its q8_0), one sequence, 2 threads. Both run alternately, and
# the best of each is used. Our time includes a prompt of 32 tokens, that of llama.cpp does not.
#   LLAMA_BENCH="command that runs llama-bench" bench/gpt2_llama.py FOLDER
# FOLDER: a Hugging Face folder of a GPT-2 with 124 million parameters and its tokenizer. The weights may be random.
import json
import os
import subprocess
import sys
import tempfile

BUILD = os.environ.get("ATTEND_BUILD", "build/release")
LLAMA = os.environ.get("LLAMA_BENCH", "llama-bench").split()
ROUNDS, TOKENS, THREADS = 3, 128, 2
JOBS = [("float32", "gpt2.write.124m.1x128", [], 1.0), ("int8", "gpt2.write.124m.int8.1x128", ["--int8"], 1.3)]


def ours(job):
    answer = subprocess.run([f"{BUILD}/bench/gpt2_bench"], input=job + "\n", check=True, capture_output=True, text=True,
                            env={**os.environ, "OMP_NUM_THREADS": str(THREADS)}).stdout
    return TOKENS / float(answer.split()[-1])


def theirs(path):
    answer = subprocess.run(LLAMA + ["-m", path, "-t", str(THREADS), "-p", "0", "-n", str(TOKENS), "-r", "1", "-o", "json"],
                            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return json.loads(answer)[0]["avg_ts"]


with tempfile.TemporaryDirectory(dir=".") as here:
    print(f"{'tokens/s':10} {'ours':>8} {'llama.cpp':>10} {'ratio':>7} {'bar':>6}")
    for name, job, flags, bar in JOBS:
        path = os.path.abspath(f"{here}/{name}.gguf")
        subprocess.run([f"{BUILD}/attend", "convert", "--model", sys.argv[1], *flags, "--output", path], check=True,
                       stderr=subprocess.DEVNULL)
        we, they = 0, 0
        for _ in range(ROUNDS):
            we, they = max(we, ours(job)), max(they, theirs(path))
        print(f"{name:10} {we:8.1f} {they:10.1f} {we / they:7.2f} {bar:6.2f}", flush=True)
