#!/usr/bin/env python3
"""Writes attend/text/unicode_ranges.cpp: the properties of each code point in Hugging Face tokenizers.

Its parts follow different versions of Unicode (normal forms 9, BERT's punctuation and marks 8, regular expressions 16,
Rust's own tests 17), so the package itself is the only reliable source. Run this with the version of tokenizers that the
tokens must be equal to; the table does not depend on the version of utf8proc.
"""
import pathlib

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def changed(normalizer, becomes=None):
    results = ((c, normalizer.normalize_str(chr(c))) for c in CODE_POINTS)
    return {c for c, s in results if (s != chr(c) if becomes is None else s == becomes)}


def cut(pre_tokenizer, around="\x01"):
    """Code points that are cut off their neighbours."""
    whole = lambda c: [around + chr(c) + around]
    return {c for c in CODE_POINTS
            if [word for word, _ in pre_tokenizer.pre_tokenize_str(around + chr(c) + around)] != whole(c)}


def bert(**options):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **options})


def matches(expression):
    return cut(pre_tokenizers.Split(Regex(expression), "isolated"))


# In the order of the bits of Property in attend/text/unicode.h.
PROPERTIES = [
    matches(r"\p{L}"),
    matches(r"\p{N}"),
    matches(r"\s"),
    changed(bert(clean_text=True), ""),
    cut(pre_tokenizers.Punctuation(), "a"),
    changed(bert(strip_accents=True), ""),
    changed(normalizers.StripAccents(), ""),
    cut(pre_tokenizers.Digits(individual_digits=True), "a"),
    set(CODE_POINTS) - cut(pre_tokenizers.Whitespace(), "a"),
    changed(bert(handle_chinese_chars=True)),
    changed(normalizers.NFD()),
    changed(normalizers.NFKD()),
]


def main():
    values = [0] * 0x110000
    for bit, members in enumerate(PROPERTIES):
        for c in members:
            values[c] |= 1 << bit
    starts = [c for c in range(0x110000) if c == 0 or values[c] != values[c - 1]]
    entries = [f"{{0x{c:X}, 0x{values[c]:X}}}" for c in starts]
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 120:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    lines.append(line)
    text = "\n".join([
        f"// Written by scripts/unicode_ranges.py from Hugging Face tokenizers {tokenizers.__version__}.",
        '#include "attend/text/unicode_ranges.h"', "", "namespace attend {", "",
        "std::span<const UnicodeRange> unicode_ranges() {", "  // clang-format off",
        "  static constexpr UnicodeRange kRanges[] = {", *lines, "  };", "  // clang-format on", "  return kRanges;", "}", "",
        "}  // namespace attend", ""])
    pathlib.Path(__file__).resolve().parents[1].joinpath("attend/text/unicode_ranges.cpp").write_text(text)
    print(len(entries), "ranges")


main()
