#!/usr/bin/env python3
# Checks that transformers loads the folders that Attend writes, with the same results as for the original folders: ids,
# spans, pairs and decoded texts of all difficult texts.
#   ATTEND_SAVED=/tmp/saved build/release/tests/text_test --gtest_also_run_disabled_tests --gtest_filter='*WritesAllFamilies*'
#   python3 tests/golden/tokenizer_round_trip.py /tmp/saved
import json
import pathlib
import sys

from transformers import AutoTokenizer

FIXTURES = pathlib.Path(__file__).parent.parent / "text" / "fixtures"
TEXTS = json.loads((FIXTURES / "texts.json").read_text())["texts"]
ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")


def answers(tok):
    """All results of a tokenizer, which must not change when its folder is saved again."""
    fast = tok.is_fast
    language = getattr(tok, "src_lang", None)
    yield "tokens", len(tok)
    yield "language", language
    yield "special", [getattr(tok, f"{role}_token_id") for role in ROLES if getattr(tok, f"{role}_token") is not None]
    for i, text in enumerate(TEXTS):
        e = tok(text, return_offsets_mapping=fast, verbose=False)
        yield f"ids of text {i}", e["input_ids"]
        yield f"spans of text {i}", e["offset_mapping"] if fast else None
        yield f"decoding of text {i}", tok.decode(e["input_ids"], skip_special_tokens=True)
        yield f"whole decoding of text {i}", tok.decode(e["input_ids"])
        yield f"pair of text {i}", tok(text, TEXTS[5], verbose=False)["input_ids"]
        if not fast and not language:
            yield f"target ids of text {i}", tok(text_target=text, verbose=False)["input_ids"]
    if language:
        tok.src_lang = {"it": "de", "it_IT": "de_DE", "ita_Latn": "deu_Latn"}[language]
        yield "ids in another language", tok(TEXTS[5])["input_ids"]
        tok.src_lang = language


def main():
    wrong = 0
    for saved in sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_dir()):
        for kind in ("PreTrainedConfig", "model's config"):  # with the config.json of a model, and without
            config = FIXTURES / saved.name / "config.json"
            (saved / "config.json").unlink(missing_ok=True)
            if kind == "model's config" and config.exists():
                (saved / "config.json").write_bytes(config.read_bytes())
            was, now = (AutoTokenizer.from_pretrained(path) for path in (FIXTURES / saved.name, saved))
            differences = [name for (name, a), (_, b) in zip(answers(was), answers(now)) if a != b]
            count = sum(1 for _ in answers(was))
            print(f"{saved.name} ({kind}): {count - len(differences)} of {count} answers agree", *differences[:5])
            wrong += len(differences)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
