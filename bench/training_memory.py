#!/usr/bin/env python3
"""Memory of training as a function of the number of sentence pairs: a small translator, a few updates, synthetic pairs.

    bench/training_memory.py                          # 10,000, 100,000 and 1,000,000 pairs
    bench/training_memory.py --pairs 10000000         # needs 4 GB of disk

`peak` is the peak resident memory. `anonymous` is the part that is not a mapped file: the tokenised pairs are mapped from
their file, and the system can free these pages at any time. `growth` is `anonymous` minus that of the first run, so
it excludes the program and the model.
"""
import argparse
import os
import random
import subprocess
import tempfile
import time


def write_pairs(path, count, most):
    """Writes pairs of sentences of 1 to `most` words, from 20,000 words with frequencies as in natural language."""
    generator = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(20000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    text = generator.choices(words, weights, k=1 << 20)
    with open(path, "w") as file:
        for _ in range(count):
            sides = []
            for _ in range(2):
                begin = generator.randrange(len(text) - most)
                sides.append(" ".join(text[begin:begin + generator.randint(1, most)]))
            file.write("\t".join(sides) + "\n")


def memory_of(process):
    """Resident and anonymous memory in bytes; 0 if the process has ended."""
    try:
        with open(f"/proc/{process.pid}/status") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
        return tuple(int(lines[key].split()[0]) * 1024 for key in ("VmRSS", "RssAnon"))
    except (OSError, KeyError, ProcessLookupError):
        return 0, 0


def run(program, pairs, output, steps, tokenizer):
    command = [program, "train", "translation", "--train", pairs, "--output", output, "--steps", str(steps),
               *(["--tokenizer", tokenizer] if tokenizer else ["--vocab-size", "8000"]), "--width", "64", "--heads", "2", "--inner", "128", "--encoder-layers", "1",
               "--decoder-layers", "1"]
    begin = time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = anonymous = 0
    while process.poll() is None:
        resident, own = memory_of(process)
        peak, anonymous = max(peak, resident), max(anonymous, own)
        time.sleep(0.02)
    if process.returncode != 0:
        raise SystemExit(process.stderr.read())
    return peak, anonymous, time.time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--steps", type=int, default=20, help="updates")
    parser.add_argument("--program", default="build/release/attend")
    parser.add_argument("--words", type=int, default=30, help="maximum number of words of a sentence")
    parser.add_argument("--tokenizer", help="folder of a tokenizer (default: train one with 8,000 tokens)")
    parser.add_argument("--folder", help="folder for the data (default: a temporary folder)")
    arguments = parser.parse_args()
    first = None
    print(f"{'pairs':>12} {'text MB':>9} {'tokens MB':>10} {'peak MB':>9} {'anonymous MB':>13} {'growth MB':>10} {'s':>7}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for count in arguments.pairs:
            pairs, output = os.path.join(folder, "pairs.tsv"), os.path.join(folder, f"model-{count}")
            write_pairs(pairs, count, arguments.words)
            peak, anonymous, seconds = run(arguments.program, pairs, output, arguments.steps, arguments.tokenizer)
            first = anonymous if first is None else first
            megabytes = [os.path.getsize(pairs), os.path.getsize(os.path.join(output, "train.tokens")), peak, anonymous,
                         anonymous - first]
            text, tokens, peak, anonymous, growth = (value / 1e6 for value in megabytes)
            print(f"{count:>12,} {text:>9.1f} {tokens:>10.1f} {peak:>9.0f} {anonymous:>13.0f} {growth:>10.0f} "
                  f"{seconds:>7.1f}", flush=True)


if __name__ == "__main__":
    main()
