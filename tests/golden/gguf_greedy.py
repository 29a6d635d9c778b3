#!/usr/bin/env python3
# Checks that llama.cpp and Attend generate the same text with greedy search: exports GPT-2 folders to GGUF.
#   ATTEND=build/release/attend LLAMA=llama-completion python3 tests/golden/gguf_greedy.py FOLDER …
# LLAMA is the command that runs llama-completion of llama.cpp; it may contain arguments.
import os
import subprocess
import sys
import tempfile

ATTEND = os.environ.get("ATTEND", "build/release/attend")
LLAMA = os.environ.get("LLAMA", "llama-completion").split()
PROMPTS = ["The meaning of life is", "Once upon a time, there", "ROMEO:", "What is it?  ", "Why?\n"]
TOKENS = "24"

wrong = 0
for folder in sys.argv[1:]:
    with tempfile.TemporaryDirectory(dir=".") as here:
        path = os.path.abspath(os.path.join(here, "model.gguf"))
        subprocess.run([ATTEND, "convert", "--model", folder, "--output", path], check=True)
        for prompt in PROMPTS:
            ours = subprocess.run([ATTEND, "generate", "--model", folder, "--greedy", "--ignore-eos", "--echo", "--max-new-tokens", TOKENS,
                                   prompt], check=True, capture_output=True, text=True).stdout
            theirs = subprocess.run(LLAMA + ["-m", path, "-n", TOKENS, "--temp", "0", "--ignore-eos", "-no-cnv", "--no-warmup", "-p", prompt],
                                    check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                    text=True).stdout
            same = ours.strip() == theirs.strip()
            print(f"{folder}: {prompt!r}: {'the same' if same else f'ours {ours!r}, theirs {theirs!r}'}")
            wrong += not same
sys.exit(wrong > 0)
