# The vocabularies and merges that the trainers of Hugging Face learn from a small text. Ours must give the same.
# Needs tokenizers: python3 tests/golden/tokenizer_training.py
import json
import pathlib
import random

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

dice = random.Random(7)
SUBJECTS = ["The attention", "A small model", "Every encoder", "L'attenzione", "Die Aufmerksamkeit", "Naïve décoders",
            "注意力机制", "Внимание", "The model's memory", "GPT-2", "ALL CAPITALS"]
VERBS = ["weighs", "reads", "rewrites", "remembers", "doesn't forget", "pesa", "gewichtet", "est lisible à", "помнит",
         "tokenises", "re-reads"]
OBJECTS = ["the sentences", "each of its tokens", "12,345 words", "ten thousand thousands", "le parole", "die Wörter",
           "文字列", "über-long compound-words", "e\u0301tudes (decomposed)", "🙂🙂 emoji 👩‍👩‍👧", "a    b  c", "aaaaaaa aaaa"]
ENDS = [".", "!", "?", " ...", "; and so on.", ""]
SYLLABLES = ["ab", "ba", "aba", "c", "cab", "a", "b", "bac", "tion", "ti", "on", "io"]  # with many possible merges
lines = ["", "one", " leading and trailing "]
lines += [f"{dice.choice(SUBJECTS)} {dice.choice(VERBS)} {dice.choice(OBJECTS)}{dice.choice(ENDS)}" for _ in range(150)]
lines += [" ".join("".join(dice.choices(SYLLABLES, k=dice.randint(1, 5))) for _ in range(6)) for _ in range(100)]

BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MARIAN = ["<pad>", "<unk>", "<s>", "</s>"]
byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
metaspace = pre_tokenizers.Metaspace()
bert = pre_tokenizers.BertPreTokenizer()


def train(model, trainer, pre_tokenizer, normalizer=None):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(lines, trainer)
    trained = json.loads(tokenizer.to_str())["model"]
    vocabulary = trained["vocab"]
    return {"tokens": sorted(vocabulary, key=vocabulary.get), "merges": trained.get("merges", [])}


def bpe(size, least):
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=least, special_tokens=["<|endoftext|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    return train(models.BPE(), trainer, byte_level)


def letters(size):
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=0, special_tokens=MARIAN, initial_alphabet=["\n"],
                                  show_progress=False)
    return train(models.BPE(unk_token="<unk>"), trainer, metaspace)


def wordpiece(size, least):
    # The order of the characters with "##" is random in Hugging Face. As special tokens, they have the same order as
    # ours.
    normalizer = normalizers.BertNormalizer()
    words = {word for line in lines for word, _ in bert.pre_tokenize_str(normalizer.normalize_str(line))}
    alphabet = sorted({letter for word in words for letter in word})
    inner = ["##" + letter for letter in sorted({letter for word in words for letter in word[1:]})]
    trainer = trainers.WordPieceTrainer(vocab_size=size, min_frequency=least, special_tokens=BERT + alphabet + inner,
                                        show_progress=False)
    return train(models.WordPiece(unk_token="[UNK]"), trainer, bert, normalizer)


def words(size, least):
    trainer = trainers.WordLevelTrainer(vocab_size=size, min_frequency=least, special_tokens=MARIAN,
                                        show_progress=False)
    return train(models.WordLevel(unk_token="<unk>"), trainer, bert)


golden = {
    "lines": lines,
    "bpe 700": bpe(700, 0), "bpe all": bpe(10000, 0), "bpe frequent": bpe(10000, 20),
    "letters 500": letters(500), "letters all": letters(10000),
    "wordpiece 500": wordpiece(500, 0), "wordpiece all": wordpiece(10000, 2),
    "words 50": words(50, 0), "words frequent": words(10000, 10),
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(golden, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")
print({name: len(case) if name == "lines" else (len(case["tokens"]), len(case["merges"])) for name, case in golden.items()})
print(f"{path.name}: {path.stat().st_size:,} bytes")
