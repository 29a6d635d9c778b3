#include "attend/text/training/train_wordpiece.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "tests/text/training_golden.h"

namespace attend {
namespace {

void expect_golden(const WordPieceTrainingOptions& options, const char* name) {
  const test::TrainingGolden golden;
  EXPECT_EQ(test::tokens_of(train_wordpiece(golden.lines(), options)), golden.tokens(name)) << name;
}

TEST(TrainWordPiece, AgreesWithHuggingFaceTokenByToken) {
  expect_golden({.vocab_size = 500, .min_frequency = 0}, "wordpiece 500");
  expect_golden({.vocab_size = 10000, .min_frequency = 2}, "wordpiece all");
}

TEST(TrainWordPiece, HasTheNormalizerAndSpecialTokensOfBert) {
  const Tokenizer tokenizer =
      train_wordpiece(test::source_of({"reading reads Reader", "playing plays PLAYER"}), {.vocab_size = 40});
  EXPECT_EQ(test::tokens_of(tokenizer, "Reads!").front(), "[CLS]");
  EXPECT_EQ(test::tokens_of(tokenizer, "Reads!").back(), "[SEP]");
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("Playing READER").ids), "playing reader");
  EXPECT_EQ(test::tokens_of(tokenizer, "?"), (std::vector<std::string>{"[CLS]", "[UNK]", "[SEP]"}));
  EXPECT_EQ(tokenizer.special().padding, 0);
  EXPECT_EQ(tokenizer.special().mask, 4);
}

TEST(TrainWordPiece, CanBeSavedAndLoaded) {
  const test::TempFolder folder;
  const test::TrainingGolden golden;
  const Tokenizer tokenizer = train_wordpiece(golden.lines(), {.vocab_size = 400, .lowercase = false});
  save_tokenizer(tokenizer, folder.path());
  const Tokenizer loaded = load_tokenizer(folder.path());
  EXPECT_EQ(test::tokens_of(loaded), test::tokens_of(tokenizer));
  EXPECT_EQ(loaded.encode_pair("The model", "ALL études").ids, tokenizer.encode_pair("The model", "ALL études").ids);
  EXPECT_EQ(loaded.special().mask, tokenizer.special().mask);
}

TEST(TrainWordPiece, NoTextIsAnError) { EXPECT_ERROR(train_wordpiece(test::source_of({" "})), "no words"); }

}  // namespace
}  // namespace attend
