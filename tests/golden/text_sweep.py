#!/usr/bin/env python3
"""Writes tests/text/fixtures/sweep.tsv: hashes of the results of the Hugging Face normalizers and pre-tokenizers for every
code point, alone, next to letters and digits, and with an accent. tests/text/sweep_test.cpp compares ours with them."""
import pathlib

from tokenizers import Regex, normalizers, pre_tokenizers

# All assigned code points, and some unassigned ones.
CODE_POINTS = [c for c in [*range(0x32400), *range(0xE0000, 0xE0200), 0xF0000, 0x10FFFF] if not 0xD800 <= c <= 0xDFFF]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

NORMALIZERS = {
    "bert": normalizers.BertNormalizer(),
    "bert cased": normalizers.BertNormalizer(lowercase=False),
    "bert accents": normalizers.BertNormalizer(lowercase=True, strip_accents=False),
    "nfc": normalizers.NFC(),
    "nfd": normalizers.NFD(),
    "nfkc": normalizers.NFKC(),
    "nfkd": normalizers.NFKD(),
    "lowercase": normalizers.Lowercase(),
    "strip accents": normalizers.StripAccents(),
    "strip": normalizers.Strip(),
    "nmt": normalizers.Nmt(),
}
PRE_TOKENIZERS = {
    "bert": pre_tokenizers.BertPreTokenizer(),
    "gpt2": pre_tokenizers.Split(Regex(GPT2), "isolated"),
    "whitespace": pre_tokenizers.Whitespace(),
    "whitespace split": pre_tokenizers.WhitespaceSplit(),
    "punctuation": pre_tokenizers.Punctuation(),
    "digits": pre_tokenizers.Digits(individual_digits=False),
    "metaspace": pre_tokenizers.Metaspace(),
}


def hash_of(texts):
    value = 0xCBF29CE484222325
    for text in texts:
        for byte in text.encode() + b"\n":
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def texts():
    for c in map(chr, CODE_POINTS):
        yield f"{c} a{c}b 1{c}{c}e{c}\u0301"


def main():
    lines = [f"normalizer\t{name}\t{hash_of(map(step.normalize_str, texts()))}" for name, step in NORMALIZERS.items()]
    for name, step in PRE_TOKENIZERS.items():
        words = ("\x1f".join(word for word, _ in step.pre_tokenize_str(text)) for text in texts())
        lines.append(f"pre_tokenizer\t{name}\t{hash_of(words)}")
    path = pathlib.Path(__file__).resolve().parents[1] / "text/fixtures/sweep.tsv"
    path.write_text("\n".join(lines) + "\n")


main()
