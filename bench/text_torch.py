"""Hugging Face tokenizers on one thread: all paragraphs in one call, with offsets (encode_batch) and without
(encode_batch_fast), which are the fastest functions."""
import os
import pathlib

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: E402

from torch_job import job, serve  # noqa: E402


def paragraphs():
    text = pathlib.Path(os.environ.get("ATTEND_BENCH_TEXT", "docs/architecture.md")).read_text(encoding="utf-8")
    result, size = [""], 0
    while size < 10_000_000:
        for line in text.removesuffix("\n").split("\n"):
            if size >= 10_000_000:
                break
            if line:
                result[-1] += line + "\n"
            else:
                result.append("")
            size += len(line.encode()) + 1
        result.append("")
    return result


def gpt2():
    folder = pathlib.Path(os.environ.get("ATTEND_BENCH_GPT2", "tests/text/fixtures/gpt2"))
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return tokenizer


def bert():
    folder = pathlib.Path(os.environ.get("ATTEND_BENCH_BERT", "tests/text/fixtures/bert_uncased"))
    tokenizer = Tokenizer(models.WordPiece.from_file(str(folder / "vocab.txt"), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"])
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]")))
    return tokenizer


def jobs(name, load):
    @job(f"{name}.encode, 10 MB")
    def _():
        tokenizer, texts = load(), paragraphs()
        return lambda: tokenizer.encode_batch(texts)

    @job(f"{name}.ids, 10 MB")
    def _():
        tokenizer, texts = load(), paragraphs()
        return lambda: tokenizer.encode_batch_fast(texts, add_special_tokens=False)


jobs("gpt2", gpt2)
jobs("bert", bert)
serve()
