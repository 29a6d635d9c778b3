#!/usr/bin/env python3
# Tiny tokenizers of every family, created with the usual libraries, and their results for difficult texts.
#   python3 tests/golden/tokenizer_folders.py        writes tests/text/fixtures/: a folder each, with expected.json inside
# Needs tokenizers, transformers and sentencepiece. The tests only read the results.
import base64
import io
import json
import pathlib
import shutil
import sys
import types

import sentencepiece
import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, NllbTokenizer, PreTrainedTokenizerFast, convert_slow_tokenizer
from transformers.models.m2m_100 import tokenization_m2m_100

FIXTURES = pathlib.Path(__file__).parent.parent / "text" / "fixtures"

# The training text of the vocabularies: all sentences that can be combined from these parts.
SENTENCES = [
    (["The child", "A neighbour", "Their teacher", "Nobody here", "The old sailor"],
     ["has seen", "wasn't reading", "they're writing", "would've bought", "doesn't understand"],
     ["the newspapers of 1984.", "3,141 letters!", "an unbelievable story, again?", "café tables (and chairs).", "Unicode: ñ, ü, ø."]),
    (["Il bambino", "La vicina", "Un marinaio", "Nessuno"],
     ["legge", "scrive", "ha comprato", "non capisce"],
     ["il giornale.", "la città più bella.", "perché è così?", "l'ultima lettera."]),
    (["Das Kind", "Die Nachbarin", "Der Seemann"],
     ["liest", "schreibt", "verstünde"],
     ["die Zeitung.", "größere Straßen.", "24 Briefe."]),
    (["Дети", "Соседка"], ["читают", "пишет"], ["газету.", "письма."]),
    (["东京", "北京"], ["很大", "下雨"], ["。", "了！"]),
]
CORPUS = [f"{a} {b} {c}" for starts, middles, ends in SENTENCES for a in starts for b in middles for c in ends]
LATIN = [line for line in CORPUS if line.isascii() or any(c in line for c in "éèàùñüøößì")]

TEXTS = [
    "",
    " ",
    "\n",
    "\n\n \t\n",
    "Hello, world!",
    "The child wasn't reading the newspapers of 1984.",
    "  two  spaces   three    four  ",
    "tab\tand\nnewline\r\nand return\rend",
    "it's they're we've I'll he'd I'm DON'T 'S 'tis o'clock ''s",
    "unbelievable unbelievably UNBELIEVABLE UnBelievable",
    "café cafe\u0301 ｃａｆé CAFÉ CAFE\u0301",
    "Ångström A\u030angstro\u0308m Å \u212b ﬁnance ﬃ ŉ ǆ",
    "ÀÈÌÒÙ İstanbul ıstanbul ΣΊΣΥΦΟΣ straße STRASSE ẞ",
    "größere Straßen, verstünde er? Ja – „so“ …",
    "perché è così? l'ultima città",
    "Дети читают газету. Ёлка ёж й",
    "东京很大。北京下雨了！日本語のテキスト、カタカナ ｶﾞ ㍿ 한국어 텍스트",
    "中文English混合123数字",
    "𠮷野家 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 ①②③ ½ ⅷ x² 10⁻³",
    "مرحبا بالعالم، كيف حالك؟ مُحَمَّد ١٢٣",
    "สวัสดีชาวโลก ภาษาไทย น้ำ",
    "हिन्दी में नमस्ते क्षत्रिय १२३",
    "שלום עולם שָׁלוֹם",
    "👍 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇮🇹🇩🇪 ❤️ ☕️",
    "zero\u200bwidth \u200cnon\u200djoiner \ufeffbom soft\u00adhyphen word\u2060joiner",
    "control \x00 \x01 \x07 \x1b[31m \x7f \x80 \x85 \x9f end",
    "spaces:\u00a0nbsp\u2003em\u2009thin\u3000ideographic\u2028line\u2029paragraph\u1680ogham\u202fnarrow",
    "private \ue000 replaced \ufffd noncharacter \uffff \U0010ffff last",
    "\u0301 combining first, e\u0301\u0302\u0303\u0304 many",
    "1 12 123 1234 12345 3.14159 1,000,000 1e-10 0x1F 192.168.0.1 2026-11-15",
    "!!!???... ----- ***** ((())) [[]] {{}} <<>> == != && || \\ / ~ ` ^ % $ # @",
    "https://example.org/a_b-c?q=1&r=%20#top mail@example.org snake_case camelCase HTTPServer",
    "a" * 99 + " " + "b" * 100 + " " + "c" * 101,
    "word" * 30,
    " " * 40 + "x" + " " * 41,
    "!" * 60,
    "αβγ " * 12,
    "end with space ",
    " start with space",
    "a\nb\n\nc\n\n\nd   \n   e",
    "[CLS] hello [SEP] [MASK] [PAD] [UNK] ##ing",
    "<s> hello </s> <mask> <pad> <unk> <extra_id_0> <extra_id_99>",
    "hello<mask>world <mask> again<mask>",
    "<|endoftext|>hello<|endoftext|> world <|endoftext|>",
    "[MASK]ed un[mask]ed [ MASK ] <MASK> </s></s>",
    ">>fr<< The child",
    ">>de<<Das Kind >>fr<< no",
    ">>xx<< unknown code",
    "▁metaspace ▁▁ in▁text",
    "Ġbyte Ċ letters âĢĶ",
    "<0x41> <0x0A>",
    "quote \"double\" 'single' “curly” ‘single’ «guillemets»",
    "The child has seen 3,141 letters! Il bambino legge il giornale. Das Kind liest die Zeitung.",
]
PAIRS = [(4, 5), (0, 4), (4, 0), (0, 0), (23, 16), (41, 40), (52, 13)]
# Truncation to a number of tokens, and windows of a number of tokens with an overlap.
CUTS = [(52, 12), (52, 5), (5, 1000), (23, 8)]
CUT_PAIRS = [(52, 5, 16), (4, 52, 11), (52, 52, 13), (5, 4, 7)]
WINDOWS = [(52, 12, 0), (52, 12, 4), (5, 1000, 4)]
DECODED = [52, 5, 23, 16, 10, 6, 39, 41, 40, 42, 43, 46]

LONG_WORDS = ["The", "child", "wasn't", "reading", "città", "più", "größere", "газету", "东京很大", "👍🏽", "1984.", "3,141",
              "  ", "\t", "unbelievable", "(and", "chairs).", "cafe\u0301", "–", "ñ"]


def long_text(size, separator):
    """Words selected by a small random number generator, until there are `size` bytes. The tests do the same."""
    state, out = 12345, io.StringIO()
    written = 0
    while written < size:
        state = (state * 1664525 + 1013904223) % 2**32
        word = LONG_WORDS[(state >> 16) % len(LONG_WORDS)] + separator
        written += len(word.encode())
        out.write(word)
    return out.getvalue()


def fnv(data):
    """64-bit FNV-1a hash as a string, because JSON numbers are not precise enough."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def hash_ids(ids):
    return fnv(b"".join(i.to_bytes(4, "little", signed=True) for i in ids))


def flat(spans):
    return [edge for span in spans for edge in span]


def expectations(tok, spans_of=None, brief=False):
    """The results of a transformers tokenizer for the texts. Offsets are characters; spans_of computes them if the
    tokenizer cannot. A brief file contains only hashes, for a tokenizer that is similar to another one."""
    fast = tok.is_fast

    def encode(text, pair=None, **options):
        return tok(text, pair, return_offsets_mapping=fast, return_token_type_ids=True, verbose=False, **options)

    expected = {"single": [], "pairs": [], "cut": [], "cut_pairs": [], "windows": [], "decoded": [], "long": []}
    for text in TEXTS:
        e = encode(text)
        case = {"ids": e["input_ids"]}
        if fast:
            case |= {"spans": flat(e["offset_mapping"]), "words": [-1 if w is None else w for w in e.word_ids()]}
        elif spans_of:
            case |= {"spans": flat(spans_of(text))}
        expected["single"].append({key: hash_ids(value) for key, value in case.items()} if brief else case)
    for a, b in PAIRS:
        if fast:  # not with transformers, which ignores an empty second text
            e = tok.backend_tokenizer.encode(TEXTS[a], TEXTS[b])
            expected["pairs"].append({"texts": [a, b], "ids": e.ids, "types": e.type_ids})
        else:
            expected["pairs"].append({"texts": [a, b], "ids": encode(TEXTS[a], TEXTS[b])["input_ids"]})
    if fast:
        for i, most in CUTS:
            e = encode(TEXTS[i], truncation=True, max_length=most)
            expected["cut"].append({"text": i, "max": most, "ids": e["input_ids"],
                                    "dropped": len(encode(TEXTS[i])["input_ids"]) - len(e["input_ids"])})
        for a, b, most in CUT_PAIRS:
            most += (most - tok.num_special_tokens_to_add(pair=True)) % 2  # versions differ in which text keeps the odd token
            e = encode(TEXTS[a], TEXTS[b], truncation="longest_first", max_length=most)
            expected["cut_pairs"].append({"texts": [a, b], "max": most, "ids": e["input_ids"]})
        for i, most, overlap in WINDOWS:  # tokenizers 0.23 stops after two windows, so the windows are computed here
            whole, bare = encode(TEXTS[i])["input_ids"], encode(TEXTS[i], add_special_tokens=False)["input_ids"]
            before = next(k for k in range(len(whole)) if whole[k:k + len(bare)] == bare)
            after, size = len(whole) - before - len(bare), most - (len(whole) - len(bare))
            windows = [bare[:size]]
            while sum(map(len, windows)) - overlap * (len(windows) - 1) < len(bare):
                start = len(windows) * (size - overlap)
                windows.append(bare[start:start + size])
            windows = [whole[:before] + window + whole[len(whole) - after:] for window in windows]
            expected["windows"].append({"text": i, "max": most, "overlap": overlap, "ids": windows})
    for i in DECODED:
        ids = encode(TEXTS[i])["input_ids"]
        expected["decoded"].append({"text": i, "clean": tok.decode(ids, skip_special_tokens=True), "all": tok.decode(ids)})
    for size, separator in ((1_000_000, " "), (100_000, "")):
        ids = encode(long_text(size, separator))["input_ids"]
        text = tok.decode(ids, skip_special_tokens=True)
        expected["long"].append({"size": size, "separator": separator, "count": len(ids), "ids": hash_ids(ids),
                                 "decoded": fnv(text.encode())})
    expected["vocabulary"] = len(tok)
    names = {"bos": "bos", "eos": "eos", "unk": "unknown", "sep": "separator", "pad": "padding", "cls": "classify", "mask": "mask"}
    expected["special"] = {ours: getattr(tok, f"{theirs}_token_id") for theirs, ours in names.items()
                           if getattr(tok, f"{theirs}_token") is not None}
    return expected


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def folder(name, model_type=None, config=None):
    """Creates an empty fixture folder, with those of the two configuration files that are given."""
    path = FIXTURES / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    if model_type:
        write_json(path / "config.json", {"model_type": model_type})
    if config:
        write_json(path / "tokenizer_config.json", config)
    return path


def finish(path, brief=False):
    tok = AutoTokenizer.from_pretrained(path)
    write_json(path / "expected.json", expectations(tok, brief=brief))
    size = sum(f.stat().st_size for f in path.iterdir())
    print(f"{path.name}: {type(tok).__name__}, {len(tok)} tokens, {size:,} bytes")


def save(tokenizer, path, pairs=True):
    """Writes tokenizer.json on one line, to keep it small; merges as pairs, or as strings as in older files."""
    data = json.loads(tokenizer.to_str())
    if not pairs:
        data["model"]["merges"] = [" ".join(pair) for pair in data["model"]["merges"]]
    write_json(path / "tokenizer.json", data)


def train(model, trainer, pre_tokenizer=None, normalizer=None, lines=CORPUS):
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def byte_level(size, special, add_prefix_space=False):
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer = train(models.BPE(), trainer, pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def write_vocabulary_and_merges(tokenizer, path):
    model = json.loads(tokenizer.to_str())["model"]
    write_json(path / "vocab.json", model["vocab"])
    (path / "merges.txt").write_text("#version: 0.2\n" + "".join(" ".join(m) + "\n" for m in model["merges"]))


def gpt2():
    tokenizer = byte_level(420, ["<|endoftext|>"])
    path = folder("gpt2", "gpt2", {"tokenizer_class": "GPT2Tokenizer", "model_max_length": 1024, "add_prefix_space": False,
                                   "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"})
    write_vocabulary_and_merges(tokenizer, path)
    finish(path)


def gpt2_old():
    """Like old folders: the class is not specified, and tokens were added after training."""
    tokenizer = byte_level(320, ["<|endoftext|>"])
    path = folder("gpt2_old", "gpt2")
    write_vocabulary_and_merges(tokenizer, path)
    write_json(path / "added_tokens.json", {"<pad>": 320, "<mask>": 321})
    write_json(path / "special_tokens_map.json", {
        "bos_token": "<|endoftext|>", "eos_token": {"content": "<|endoftext|>", "lstrip": False, "normalized": True,
                                                    "rstrip": False, "single_word": False},
        "unk_token": "<|endoftext|>", "pad_token": "<pad>"})
    finish(path, brief=True)


def gpt2_json():
    """tokenizer.json like that of gpt2: merges as strings, offsets that include the space."""
    tokenizer = byte_level(360, ["<|endoftext|>"], add_prefix_space=True)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    path = folder("gpt2_json", "gpt2", {"tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": True,
                                        "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"})
    save(tokenizer, path, pairs=False)
    finish(path, brief=True)


def roberta():
    tokenizer = byte_level(400, ["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    path = folder("roberta", "roberta", {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, "bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>",
        "cls_token": "<s>", "unk_token": "<unk>", "pad_token": "<pad>", "mask_token": {
            "__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False}})
    save(tokenizer, path)
    finish(path, brief=True)


def wordpiece(size, lowercase, special, lines=CORPUS):
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    return train(models.WordPiece(unk_token="[UNK]"), trainer, pre_tokenizers.BertPreTokenizer(),
                 normalizers.BertNormalizer(lowercase=lowercase), lines)


def bert_uncased():
    tokenizer = wordpiece(420, True, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    path = folder("bert_uncased", "bert", {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512})
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (path / "vocab.txt").write_text("".join(token + "\n" for token, _ in vocabulary))
    finish(path)


def bert_cased():
    tokenizer = wordpiece(420, False, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    path = folder("bert_cased", "bert", {
        "tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": False, "unk_token": "[UNK]", "sep_token": "[SEP]",
        "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"})
    save(tokenizer, path)
    finish(path)


def bert_accents():
    """Cased, but strips accents, without spaces around Chinese characters; given by vocab.txt and three flags."""
    tokenizer = wordpiece(300, True, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    path = folder("bert_accents", "bert", {"tokenizer_class": "BertTokenizer", "do_lower_case": False, "strip_accents": True,
                                           "tokenize_chinese_chars": False})
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (path / "vocab.txt").write_text("".join(token + "\n" for token, _ in vocabulary))
    finish(path, brief=True)


def mpnet():
    tokenizer = wordpiece(320, True, ["<s>", "<pad>", "</s>", "<unk>", "[UNK]"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False, special=True)])
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s>:0 $A:0 </s>:0", pair="<s>:0 $A:0 </s>:0 </s>:0 $B:1 </s>:1", special_tokens=[("<s>", 0), ("</s>", 2)])
    path = folder("mpnet", "mpnet", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "cls_token": "<s>",
        "unk_token": "[UNK]", "pad_token": "<pad>", "mask_token": "<mask>"})
    save(tokenizer, path)
    finish(path, brief=True)


# A few normalisation rules only, because the usual ones need 240 KB in every model.
RULES = [("\uff43", "c"), ("\uff41", "a"), ("\uff46", "f"), ("\u00a0", " "), ("\u3000", " "), ("\t", " "), ("\n", " "), ("\r", " "),
         ("\u2003", " "), ("e\u0301", "é"), ("A\u030a", "Å"), ("o\u0308", "ö"), ("\u212b", "Å"), ("ﬁ", "fi"), ("ﬃ", "ffi"),
         ("㍿", "株式会社"), ("½", "1/2"), ("…", "..."), ("\u200b", " "), ("\x07", ""), ("\ufeff", ""), ("²", "2")]


def piece_model(size, lines, **options):
    rules = FIXTURES / "rules.tsv"
    rules.write_text("".join("{}\t{}\n".format(*(" ".join(f"{ord(c):x}" for c in side) for side in rule)) for rule in RULES))
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, normalization_rule_tsv=str(rules), minloglevel=2,
        hard_vocab_limit=False, num_threads=1, **options)
    rules.unlink()
    return model.getvalue()


T5_CONFIG = {"tokenizer_class": "T5Tokenizer", "extra_ids": 100, "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>",
             "model_max_length": 512}


def t5_spm():
    model = piece_model(300, CORPUS, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, byte_fallback=False)
    path = folder("t5_spm", "t5", T5_CONFIG)
    (path / "spiece.model").write_bytes(model)
    finish(path)


def t5():
    """The same model in tokenizer.json."""
    path = folder("t5", "t5", T5_CONFIG)
    tokenizer = AutoTokenizer.from_pretrained(FIXTURES / "t5_spm").backend_tokenizer
    save(tokenizer, path)
    finish(path, brief=True)


MASK = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False}
XLM_ROBERTA_CONFIG = {"tokenizer_class": "XLMRobertaTokenizer", "model_max_length": 512, "mask_token": MASK}


def xlm_roberta_spm():
    model = piece_model(300, CORPUS, unk_id=0, bos_id=1, eos_id=2)
    path = folder("xlm_roberta_spm", "xlm-roberta", XLM_ROBERTA_CONFIG)
    (path / "sentencepiece.bpe.model").write_bytes(model)
    finish(path, brief=True)


def xlm_roberta():
    path = folder("xlm_roberta", "xlm-roberta", XLM_ROBERTA_CONFIG)
    tokenizer = AutoTokenizer.from_pretrained(FIXTURES / "xlm_roberta_spm").backend_tokenizer
    save(tokenizer, path)
    finish(path, brief=True)


def albert():
    """A unigram model in tokenizer.json, like that of albert-base-v2."""
    special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    charsmap = json.loads((FIXTURES / "t5" / "tokenizer.json").read_text())["normalizer"]
    normalizer = normalizers.Sequence([
        normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(),
        normalizers.Lowercase(), normalizers.Replace(tokenizers.Regex(" {2,}"), " ")])
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False)
    split = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")])
    tokenizer = train(models.Unigram(), trainer, split, normalizer)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    data = json.loads(tokenizer.to_str())
    data["normalizer"]["normalizers"].insert(5, charsmap)
    path = folder("albert", "albert", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "[CLS]", "eos_token": "[SEP]", "sep_token": "[SEP]", "cls_token": "[CLS]",
        "unk_token": "<unk>", "pad_token": "<pad>", "mask_token": MASK | {"content": "[MASK]"}})
    write_json(path / "tokenizer.json", data)
    finish(path, brief=True)


def albert_spm():
    """The file of the published folders. transformers 5 reads it without its map of characters and with other scores than those in the
    published tokenizer.json, so the expected results are those of its converter, which made that file."""
    lines = CORPUS + [f"{number}, {word}" for number in (3, 14, 1984) for word in ("letters", "tables", "chairs", "briefe")]
    model = piece_model(300, lines, pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"])
    path = folder("albert_spm", "albert", {"model_max_length": 512, "do_lower_case": True, "keep_accents": False})
    (path / "spiece.model").write_bytes(model)
    ids = {piece: i for i, piece in enumerate(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])}
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    assert [processor.id_to_piece(i) for i in range(5)] == list(ids)
    assert any(processor.id_to_piece(i)[-2:-1].isdigit() and processor.id_to_piece(i).endswith(",") for i in range(300)), "no number with comma"
    source = types.SimpleNamespace(vocab_file=str(path / "spiece.model"), keep_accents=False, do_lower_case=True, add_prefix_space=True,
                                   convert_tokens_to_ids=ids.get)
    tokenizer = convert_slow_tokenizer.AlbertConverter(source).converted()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tok = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="[CLS]", eos_token="[SEP]", unk_token="<unk>", sep_token="[SEP]",
                                  pad_token="<pad>", cls_token="[CLS]", mask_token=AddedToken("[MASK]", lstrip=True, normalized=False))
    write_json(path / "expected.json", expectations(tok, brief=True))


def camembert_spm():
    """The file of the published folders. transformers 5 reads it without its map of characters, so the expected results are those of its
    converter, with the normalizer and the split at spaces of the published tokenizer.json. They are also those of the sentencepiece library, but for rare spaces."""
    model = piece_model(300, CORPUS, unk_id=0, bos_id=1, eos_id=2)
    path = folder("camembert_spm", "camembert", {"model_max_length": 512})
    (path / "sentencepiece.bpe.model").write_bytes(model)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    source = types.SimpleNamespace(vocab_file=str(path / "sentencepiece.bpe.model"), add_prefix_space=True,
                                   convert_tokens_to_ids=lambda token: processor.piece_to_id(token) + 4)
    converter = convert_slow_tokenizer.CamembertConverter(source)
    tokenizer = converter.converted()
    tokenizer.normalizer = normalizers.Precompiled(converter.proto.normalizer_spec.precompiled_charsmap)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tok = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", sep_token="</s>",
                                  pad_token="<pad>", cls_token="<s>", mask_token=AddedToken("<mask>", lstrip=True, normalized=False),
                                  additional_special_tokens=["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"])
    plain = [text for text in TEXTS if not any(token in text for token in tok.all_special_tokens)]
    slow = [[5, *(piece + 4 if piece else 3 for piece in processor.encode(text)), 6] for text in plain]
    differ = [text for text, ids in zip(plain, slow) if tok(text)["input_ids"] != ids]
    assert len(differ) == 4, differ  # rare spaces and marks, which the map of characters of this small model leaves as they are
    write_json(path / "expected.json", expectations(tok, brief=True))


def modernbert():
    """Byte-level BPE with BERT's special tokens behind the others."""
    trainer = trainers.BpeTrainer(vocab_size=360, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer = train(models.BPE(), trainer, pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.NFC())
    tokenizer.decoder = decoders.ByteLevel()
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")])
    path = folder("modernbert", "modernbert", {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 8192, "unk_token": "[UNK]", "sep_token": "[SEP]",
        "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"})
    save(tokenizer, path)
    finish(path, brief=True)


def pegasus_spm():
    """Ids are shifted by 103 tokens of the pre-training."""
    model = piece_model(300, CORPUS, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    path = folder("pegasus_spm", "pegasus", {"tokenizer_class": "PegasusTokenizer", "model_max_length": 512})
    (path / "spiece.model").write_bytes(model)
    finish(path, brief=True)


def mbart50_spm():
    model = piece_model(300, CORPUS, unk_id=0, bos_id=1, eos_id=2)
    path = folder("mbart50_spm", "mbart", {"tokenizer_class": "MBart50Tokenizer", "model_max_length": 1024, "src_lang": "it_IT",
                                           "tgt_lang": None})
    (path / "sentencepiece.bpe.model").write_bytes(model)
    finish(path, brief=True)


NLLB_LANGUAGES = ["deu_Latn", "eng_Latn", "fra_Latn", "ita_Latn", "rus_Cyrl", "zho_Hans", "zho_Hant"]


def nllb():
    """tokenizer.json like that of NLLB-200, with fewer languages."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=special, show_progress=False)
    model = json.loads(train(models.BPE(), trainer, pre_tokenizers.Metaspace()).to_str())["model"]
    charsmap = json.loads((FIXTURES / "t5" / "tokenizer.json").read_text())["normalizer"]["precompiled_charsmap"]
    path = folder("nllb", "m2m_100", {"tokenizer_class": "NllbTokenizer", "model_max_length": 1024, "src_lang": "ita_Latn",
                                      "tgt_lang": None, "additional_special_tokens": NLLB_LANGUAGES})
    tok = NllbTokenizer(vocab=model["vocab"], merges=[tuple(m) for m in model["merges"]], src_lang="eng_Latn",
                        extra_special_tokens=NLLB_LANGUAGES, _spm_precompiled_charsmap=base64.b64decode(charsmap))
    save(tok.backend_tokenizer, path)
    finish(path, brief=True)


def nllb_spm():
    """The same kind of model in the file of the published folders, with the ids of the languages in tokenizer_config.json."""
    model = piece_model(320, CORPUS, model_type="bpe", unk_id=0, bos_id=1, eos_id=2)
    first = sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size() + 1
    added = {str(first + i): dict(content=token, lstrip=token == "<mask>", normalized=token == "<mask>", rstrip=False, single_word=False,
                                  special=True) for i, token in enumerate(NLLB_LANGUAGES + ["<mask>"])}
    path = folder("nllb_spm", "m2m_100", {"tokenizer_class": "NllbTokenizer", "model_max_length": 1024, "src_lang": "ita_Latn",
                                          "tgt_lang": None, "additional_special_tokens": NLLB_LANGUAGES, "added_tokens_decoder": added})
    (path / "sentencepiece.bpe.model").write_bytes(model)
    finish(path, brief=True)


def m2m_100():
    """A SentencePiece model, a vocabulary with other ids, and a hundred languages behind it."""
    model = piece_model(300, CORPUS, model_type="bpe", unk_id=0, bos_id=1, eos_id=2)
    languages = [f"__{code}__" for code in tokenization_m2m_100.FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    path = folder("m2m_100", "m2m_100", {"tokenizer_class": "M2M100Tokenizer", "model_max_length": 1024, "src_lang": "it",
                                         "tgt_lang": None, "additional_special_tokens": languages})
    (path / "sentencepiece.bpe.model").write_bytes(model)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = sorted(processor.id_to_piece(i) for i in range(3, processor.get_piece_size()))[:-5]
    write_json(path / "vocab.json", {token: i for i, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *pieces])})
    finish(path, brief=True)


def marian():
    """Two models that share a vocabulary with different ids; some tokens are not in the vocabulary."""
    source = piece_model(260, LATIN[:125], unk_id=0, bos_id=1, eos_id=2)
    target = piece_model(260, LATIN[125:], unk_id=0, bos_id=1, eos_id=2)
    path = folder("marian", "marian", {"source_lang": "en", "target_lang": "it", "tokenizer_class": "MarianTokenizer",
                                       "model_max_length": 512, "separate_vocabs": False})
    (path / "source.spm").write_bytes(source)
    (path / "target.spm").write_bytes(target)
    pieces = set()
    for model in (source, target):
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        pieces |= {processor.id_to_piece(i) for i in range(3, processor.get_piece_size())}
    pieces = sorted(pieces)[:-10]
    tokens = ["</s>", "<unk>", ">>fr<<", ">>de<<", *pieces, "<pad>"]
    write_json(path / "vocab.json", {token: i for i, token in enumerate(tokens)})

    def spans_of(tok):
        def spans(text):
            """Offsets by the sentencepiece library itself, for texts without special tokens."""
            code, rest = tok.remove_language_code(text)
            if any(token in text for token in tok.all_special_tokens):
                return []
            start, data = len(text) - len(rest), rest.encode()
            edges = [[start + len(data[:edge].decode()) for edge in (piece.begin, piece.end)]
                     for piece in tok.current_spm.encode(rest, return_type="proto").pieces]
            return [(0, start)] * len(code) + edges + [(0, 0)]
        return spans

    tok = AutoTokenizer.from_pretrained(path)
    expected = expectations(tok, spans_of(tok))
    expected["target"] = []
    for text in TEXTS:
        ids = tok(text_target=text, verbose=False)["input_ids"]
        expected["target"].append({"ids": ids, "clean": tok.decode(ids, skip_special_tokens=True, use_source_tokenizer=False)})
    write_json(path / "expected.json", expected)
    print(f"marian: {len(tok)} tokens, {sum(f.stat().st_size for f in path.iterdir()):,} bytes")


def llama2():
    """SentencePiece BPE in tokenizer.json, with byte fallback for characters that are not in the vocabulary."""
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=560, special_tokens=special, show_progress=False)
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trained = train(models.BPE(), trainer, pre_tokenizers.Metaspace(), None)
    model = json.loads(trained.to_str())["model"]
    tokenizer = Tokenizer(models.BPE(vocab=model["vocab"], merges=[tuple(m) for m in model["merges"]], unk_token="<unk>",
                                     fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizer
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in special[:3]])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(content=" ", left=1)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s>:0 $A:0", pair="<s>:0 $A:0 <s>:1 $B:1", special_tokens=[("<s>", 1)])
    path = folder("llama2", "llama", {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
                                      "unk_token": "<unk>"})
    save(tokenizer, path)
    finish(path, brief=True)


LLAMA3_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
                  r"\s+(?!\S)|\s+")


def llama3():
    """Byte-level BPE with its own pattern, and ignore_merges: words of the vocabulary are not split."""
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    split = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(LLAMA3_PATTERN), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trained = train(models.BPE(), trainer, split)
    model = json.loads(trained.to_str())["model"]
    tokenizer = Tokenizer(models.BPE(vocab=model["vocab"], merges=[tuple(m) for m in model["merges"]], ignore_merges=True))
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>"])
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True, add_prefix_space=True),
        processors.TemplateProcessing(single="<|begin_of_text|>:0 $A:0", pair="<|begin_of_text|>:0 $A:0 <|begin_of_text|>:1 $B:1",
                                      special_tokens=[("<|begin_of_text|>", begin)])])
    path = folder("llama3", "llama", {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|begin_of_text|>",
                                      "eos_token": "<|end_of_text|>", "model_max_length": 131072})
    save(tokenizer, path)
    finish(path, brief=True)


QWEN_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
                r"\s+(?!\S)|\s+")


def byte_level_of(name, config, split, special, normalizer=None, processor=None, unknown=None):
    """A byte-level BPE with the given words, in the tokenizer.json of a published family."""
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer = train(models.BPE(unk_token=unknown), trainer, split, normalizer)
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    if processor:
        tokenizer.post_processor = processor
    tokenizer.add_special_tokens(special)
    path = folder(name, None, config)
    save(tokenizer, path)
    finish(path, brief=True)


def qwen2():
    split = pre_tokenizers.Sequence([pre_tokenizers.Split(tokenizers.Regex(QWEN_PATTERN), behavior="isolated"),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    byte_level_of("qwen2", {"tokenizer_class": "Qwen2Tokenizer", "add_bos_token": False, "add_prefix_space": False, "bos_token": None,
                            "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None, "model_max_length": 32768},
                  split, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], normalizers.NFC(),
                  processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False))


def smollm():
    split = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)])
    byte_level_of("smollm", {"tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": False, "bos_token": "<|im_start|>", "eos_token": "<|im_end|>",
                             "unk_token": "<|endoftext|>", "model_max_length": 8192}, split, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])


def gpt_neox():
    byte_level_of("gpt_neox", {"tokenizer_class": "GPTNeoXTokenizer", "add_prefix_space": False, "bos_token": "<|endoftext|>",
                               "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"},
                  pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True), ["<|endoftext|>", "<|padding|>"], normalizers.NFC(),
                  processors.ByteLevel(add_prefix_space=False, trim_offsets=True))


def sentencepiece_of(name, config, special, normalizer, pre_tokenizer, prefix):
    """SentencePiece BPE in tokenizer.json, with bytes, as the tokenizers of Gemma and Mistral have it."""
    tokens = special + [f"<0x{i:02X}>" for i in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=560, special_tokens=tokens, show_progress=False)
    model = json.loads(train(models.BPE(), trainer, pre_tokenizers.Metaspace(), None).to_str())["model"]
    tokenizer = Tokenizer(models.BPE(vocab=model["vocab"], merges=[tuple(m) for m in model["merges"]], unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()] +
                                          ([decoders.Strip(content=" ", left=1)] if prefix else []))
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    bos = config["bos_token"]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{bos}:0 $A:0", pair=f"{bos}:0 $A:0 {bos}:1 $B:1",
                                                             special_tokens=[(bos, tokenizer.token_to_id(bos))])
    path = folder(name, None, config)
    save(tokenizer, path)
    finish(path, brief=True)


def gemma():
    sentencepiece_of("gemma", {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<bos>", "eos_token": "<eos>", "pad_token": "<pad>",
                               "unk_token": "<unk>"}, ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"],
                     normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", behavior="merged_with_previous"), False)


def mistral():
    sentencepiece_of("mistral", {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
                     ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"], None,
                     pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False), True)


def llama_spm(name="llama_spm", **options):
    """tokenizer.model alone."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=420, model_type="bpe", unk_id=0, bos_id=1, eos_id=2, byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True, allow_whitespace_only_pieces=True,
        hard_vocab_limit=False, num_threads=1, minloglevel=2)
    path = folder(name, "llama", {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "add_bos_token": True} | options)
    (path / "tokenizer.model").write_bytes(model.getvalue())
    finish(path, brief=True)


def llama_spm_legacy():
    llama_spm("llama_spm_legacy", legacy=True, add_eos_token=True)


def words():
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(CORPUS, trainers.WordLevelTrainer(special_tokens=["[UNK]", "[PAD]"], show_progress=False))
    path = folder("words", None, {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "pad_token": "[PAD]"})
    save(tokenizer, path)
    finish(path)


FAMILIES = [gpt2, gpt2_old, gpt2_json, roberta, bert_uncased, bert_cased, bert_accents, mpnet, t5_spm, t5, xlm_roberta_spm, xlm_roberta,
            albert, albert_spm, camembert_spm, modernbert, pegasus_spm, mbart50_spm, nllb, nllb_spm, m2m_100, marian, llama2, llama3, llama_spm, llama_spm_legacy, mistral, gemma,
            qwen2, smollm, gpt_neox, words]

if __name__ == "__main__":
    FIXTURES.mkdir(parents=True, exist_ok=True)
    write_json(FIXTURES / "texts.json", {"texts": TEXTS, "long_words": LONG_WORDS})
    for family in [f for f in FAMILIES if len(sys.argv) < 2 or f.__name__ in sys.argv]:
        family()
    print(f"together: {sum(f.stat().st_size for f in FIXTURES.rglob('*') if f.is_file()):,} bytes")
