"""The Hugging Face peer of tokenizer_training_bench.cpp: the same text, options and number of threads."""
import os

os.environ["TOKENIZERS_PARALLELISM"] = "true"
os.environ["RAYON_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "2")

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers  # noqa: E402
from torch_job import job, serve  # noqa: E402

BYTES = 1_000_000


def invented_lines():
    lines, state, size = [], 1, 0
    while size < BYTES:
        words = []
        for _ in range(12):
            state = (state * 1664525 + 1013904223) % 2**32
            rank = ((state >> 11) ** 3) >> 48
            word = ""
            while True:
                word += "bcdfglmnprstv"[rank % 65 // 5] + "aeiou"[rank % 65 % 5]
                rank //= 65
                if not rank:
                    break
            words.append(word)
        lines.append(" ".join(words))
        size += len(lines[-1]) + 1
    return lines


def text_lines():
    if "ATTEND_BENCH_TEXT" not in os.environ:
        return invented_lines()
    lines, size = [], 0
    with open(os.environ["ATTEND_BENCH_TEXT"], encoding="utf-8", newline="\n") as file:
        for line in file:
            lines.append(line.rstrip("\n"))
            size += len(line.encode())
            if size >= BYTES:
                break
    return lines


@job("train_bpe.8000")
def _():
    lines = text_lines()

    def run():
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
            vocab_size=8000, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False))
    return run


@job("train_wordpiece.8000")
def _():
    lines = text_lines()

    def run():
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.train_from_iterator(lines, trainers.WordPieceTrainer(
            vocab_size=8000, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=1000,
            show_progress=False))
    return run


serve()
