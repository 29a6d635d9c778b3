#include "attend/text/training/train_words.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "tests/text/training_golden.h"

namespace attend {
namespace {

using test::source_of;
using Tokens = std::vector<std::string>;

TEST(TrainWords, AgreesWithHuggingFaceWordByWord) {
  const test::TrainingGolden golden;
  EXPECT_EQ(test::tokens_of(train_words(golden.lines(), {.vocab_size = 50})), golden.tokens("words 50"));
  EXPECT_EQ(test::tokens_of(train_words(golden.lines(), {.vocab_size = 10000, .min_frequency = 10})),
            golden.tokens("words frequent"));
}

TEST(TrainWords, OtherWordsAreUnknown) {
  const Tokenizer tokenizer = train_words(source_of({"two men, two dogs."}));
  EXPECT_EQ(test::tokens_of(tokenizer), (Tokens{"<pad>", "<unk>", "<s>", "</s>", "two", ",", ".", "dogs", "men"}));
  EXPECT_EQ(test::tokens_of(tokenizer, "two cats."), (Tokens{"two", "<unk>", ".", "</s>"}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("two dogs, two men.").ids), "two dogs, two men.");
}

TEST(TrainCharacters, AreCodePointsAndTheLineEnd) {
  const Tokenizer tokenizer = train_characters(source_of({"ab é", "\xFF"}), {.append_eos = false});
  EXPECT_EQ(test::tokens_of(tokenizer), (Tokens{"<pad>", "<unk>", "<s>", "</s>", "\n", " ", "a", "b", "é", "\uFFFD"}));
  EXPECT_EQ(test::tokens_of(tokenizer, "bé  x"), (Tokens{"b", "é", " ", " ", "<unk>"}));
  for (const std::string text : {"", "a b\n\nab é ", "\n"})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text).ids), text);
}

TEST(TrainCharacters, TheMostFrequentAreKept) {
  const Tokenizer tokenizer = train_characters(source_of({"cccbba"}), {.vocab_size = 6, .lowercase = true});
  EXPECT_EQ(test::tokens_of(tokenizer), (Tokens{"<pad>", "<unk>", "<s>", "</s>", "b", "c"}));
  EXPECT_EQ(test::tokens_of(tokenizer, "CBA"), (Tokens{"c", "b", "<unk>", "</s>"}));
}

TEST(TrainWords, CanBeSavedAndLoaded) {
  const test::TempFolder folder;
  const test::TrainingGolden golden;
  for (const Tokenizer& tokenizer : {train_words(golden.lines()), train_characters(golden.lines())}) {
    save_tokenizer(tokenizer, folder.path());
    const Tokenizer loaded = load_tokenizer(folder.path());
    EXPECT_EQ(test::tokens_of(loaded), test::tokens_of(tokenizer));
    for (const std::string text : {"The attention reads 文字列, 🙂 xyz", "a    b"}) {
      EXPECT_EQ(loaded.encode(text).ids, tokenizer.encode(text).ids);
      EXPECT_EQ(loaded.decode(loaded.encode(text).ids), tokenizer.decode(tokenizer.encode(text).ids));
    }
    EXPECT_EQ(loaded.special().eos, tokenizer.special().eos);
    EXPECT_EQ(loaded.special().padding, tokenizer.special().padding);
  }
}

TEST(TrainWords, NoWordsAreAnError) {
  EXPECT_ERROR(train_words(source_of({})), "nothing is left to learn");
  EXPECT_ERROR(train_words(source_of({"a"}), {.vocab_size = 4}), "vocab_size (4) too low");
  EXPECT_ERROR(train_characters(source_of({})), "nothing is left to learn");
}

}  // namespace
}  // namespace attend
