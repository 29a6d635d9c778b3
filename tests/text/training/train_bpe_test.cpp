#include "attend/text/training/train_bpe.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "tests/text/training_golden.h"

namespace attend {
namespace {

using test::source_of;

const SpecialTexts kMarian{.padding = "<pad>", .unknown = "<unk>", .bos = "<s>", .eos = "</s>"};

void expect_golden(const BpeTrainingOptions& options, const char* name) {
  const test::TrainingGolden golden;
  const Tokenizer tokenizer = train_bpe(golden.lines(), options);
  EXPECT_EQ(test::tokens_of(tokenizer), golden.tokens(name)) << name;
  EXPECT_EQ(test::merges_of(tokenizer), golden.merges(name)) << name;
}

TEST(TrainBpe, OfBytesAgreesWithHuggingFaceMergeByMerge) {
  expect_golden({.vocab_size = 700, .min_frequency = 0}, "bpe 700");
  expect_golden({.vocab_size = 10000, .min_frequency = 0}, "bpe all");
  expect_golden({.vocab_size = 10000, .min_frequency = 20}, "bpe frequent");
}

TEST(TrainBpe, OfCharactersAgreesWithHuggingFaceMergeByMerge) {
  expect_golden({.vocab_size = 500, .min_frequency = 0, .byte_level = false, .special = kMarian}, "letters 500");
  expect_golden({.vocab_size = 10000, .min_frequency = 0, .byte_level = false, .special = kMarian}, "letters all");
}

TEST(TrainBpe, TheNumberOfThreadsDoesNotMatter) {
  const int before = threads();
  for (const int count : {1, 3}) {
    set_threads(count);
    expect_golden({.vocab_size = 700, .min_frequency = 0}, "bpe 700");
  }
  set_threads(before);
}

TEST(TrainBpe, EncodesAndDecodesAnyText) {
  const Tokenizer tokenizer = train_bpe(source_of({"to be or not to be", "to be is to do"}), {.vocab_size = 280});
  EXPECT_EQ(test::tokens_of(tokenizer, "to be"), (std::vector<std::string>{"to", "Ġbe"}));
  for (const std::string text : {"", " ", "never  seen: naïve 文字 🙂", "line\nend\ttab"})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text).ids), text);
  EXPECT_EQ(tokenizer.special().eos, 0);
  EXPECT_TRUE(tokenizer.is_special(0));
  EXPECT_EQ(tokenizer.token(0), "<|endoftext|>");
}

TEST(TrainBpe, OfCharactersRareOnesAreUnknownAndTextsCanEnd) {
  BpeTrainingOptions options{.vocab_size = 30, .byte_level = false, .limit_alphabet = 5, .append_eos = true};
  options.special = kMarian;
  const Tokenizer tokenizer = train_bpe(source_of({"aaa bbb aaa bbb ccc ccc", "z"}), options);
  EXPECT_EQ(test::tokens_of(tokenizer, "aaa z").back(), "</s>");
  EXPECT_EQ(tokenizer.id("z"), std::nullopt);
  const Encoding encoding = tokenizer.encode("z");
  EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.end(), *tokenizer.special().unknown), 1);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("aaa bbb").ids), "aaa bbb");
}

TEST(TrainBpe, CanBeSavedAndLoaded) {
  const test::TempFolder folder;
  const test::TrainingGolden golden;
  BpeTrainingOptions options{.vocab_size = 700, .lowercase = true};
  options.special.more = {">>fr<<"};
  const Tokenizer tokenizer = train_bpe(golden.lines(), options);
  save_tokenizer(tokenizer, folder.path());
  const Tokenizer loaded = load_tokenizer(folder.path());
  EXPECT_EQ(test::tokens_of(loaded), test::tokens_of(tokenizer));
  for (const std::string text : {">>fr<< The Attention's 12,345", "ALL capitals\n🙂"})
    EXPECT_EQ(loaded.encode(text).ids, tokenizer.encode(text).ids);
  EXPECT_EQ(loaded.special().eos, tokenizer.special().eos);
}

TEST(TrainBpe, ReportsProgress) {
  std::int64_t calls = 0, last = 0;
  train_bpe(source_of({"abab abab abab"}), {.vocab_size = 260}, [&](std::int64_t done, std::int64_t total) {
    EXPECT_GT(done, last);
    EXPECT_EQ(total, 260);
    last = done;
    ++calls;
  });
  EXPECT_EQ(calls, 3);
}

TEST(TrainBpe, InvalidUtf8CountsAsTheReplacementCharacter) {
  const Tokenizer tokenizer = train_bpe(source_of({"\xFF\xFF \xFF\xFF"}), {.vocab_size = 300});
  EXPECT_EQ(test::tokens_of(tokenizer, "\xFF\xFF").size(), 1u);
}

TEST(TrainBpe, NoTextAndATooSmallVocabularyAreErrors) {
  EXPECT_ERROR(train_bpe(source_of({})), "no words");
  EXPECT_ERROR(train_bpe(source_of({"", ""})), "no words");
  EXPECT_ERROR(train_bpe(source_of({"text"}), {.vocab_size = 100}), "got vocab_size 100, expected at least 257");
}

}  // namespace
}  // namespace attend
