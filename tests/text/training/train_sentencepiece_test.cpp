#include "attend/text/training/train_sentencepiece.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "tests/text/training_golden.h"

namespace attend {
namespace {

const std::vector<std::string> kTexts{"The attention weighs each of its tokens.",
                                      "  abaction   tionab  ",
                                      "",
                                      "12,345 words ÀÉ ﬁ",
                                      "unseen: ж Ω 🙂",
                                      "文字列 注意力"};

SentencePieceTrainingOptions small(bool unigram) {
  SentencePieceTrainingOptions options;
  options.unigram = unigram;
  options.vocab_size = 200;
  options.character_coverage = 0.98;
  options.append_eos = false;
  return options;
}

/// The tokens that the library itself gives for a text.
std::vector<std::int32_t> library_ids(const std::string& file, const std::string& text) {
  sentencepiece::SentencePieceProcessor processor;
  EXPECT_TRUE(processor.LoadFromSerializedProto(file).ok());
  std::vector<int> ids;
  EXPECT_TRUE(processor.Encode(text, &ids).ok());
  return {ids.begin(), ids.end()};
}

TEST(TrainSentencePiece, TheTokenizerAgreesWithTheLibrary) {
  const test::TrainingGolden golden;
  for (const bool unigram : {true, false}) {
    const std::string file = train_sentencepiece_file(golden.lines(), small(unigram));
    const Tokenizer tokenizer = train_sentencepiece(golden.lines(), small(unigram));
    for (const std::string& text : kTexts) EXPECT_EQ(tokenizer.encode(text).ids, library_ids(file, text)) << text;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(kTexts[0]).ids), kTexts[0]);
    EXPECT_EQ(tokenizer.token(0), "<pad>");
    EXPECT_EQ(tokenizer.size(), 200);
  }
}

TEST(TrainSentencePiece, UnknownCharactersCanBeTheirBytes) {
  const test::TrainingGolden golden;
  for (const bool unigram : {true, false}) {
    SentencePieceTrainingOptions options = small(unigram);
    options.byte_fallback = true;
    options.vocab_size = 400;
    const Tokenizer tokenizer = train_sentencepiece(golden.lines(), options);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("unseen: ж Ω 🙂").ids), "unseen: ж Ω 🙂");
  }
}

TEST(TrainSentencePiece, CanBeSavedAndLoaded) {
  const test::TrainingGolden golden;
  for (const bool unigram : {true, false}) {
    const test::TempFolder folder;
    SentencePieceTrainingOptions options = small(unigram);
    options.append_eos = true;
    const Tokenizer tokenizer = train_sentencepiece(golden.lines(), options);
    save_tokenizer(tokenizer, folder.path());
    const Tokenizer loaded = load_tokenizer(folder.path());
    for (const std::string& text : kTexts) {
      EXPECT_EQ(loaded.encode(text).ids, tokenizer.encode(text).ids) << text;
      EXPECT_EQ(loaded.encode(text).ids.back(), *tokenizer.special().eos);
    }
  }
}

TEST(TrainSentencePiece, APairHasTwoModelsAndOneVocabulary) {
  const test::TempFolder folder;
  const test::TrainingGolden golden;
  const LineSource target =
      test::source_of(std::vector<std::string>(20, "die Wörter und die Aufmerksamkeit der Wörter"));
  SentencePieceTrainingOptions options = small(true);
  options.character_coverage = 1;
  const Tokenizer tokenizer = train_sentencepiece_pair(golden.lines(), target, options);
  EXPECT_EQ(tokenizer.token(0), "</s>");
  EXPECT_EQ(tokenizer.token(1), "<unk>");
  EXPECT_EQ(tokenizer.special().padding, tokenizer.size() - 1);
  EXPECT_EQ(tokenizer.encode("die Wörter").ids.back(), 0);
  save_tokenizer(tokenizer, folder.path());
  for (const Side side : {Side::source, Side::target}) {
    const Tokenizer loaded = load_tokenizer(folder.path(), side);
    EXPECT_EQ(loaded.decode(loaded.encode("die Wörter").ids), "die Wörter");
  }
  EXPECT_EQ(load_tokenizer(folder.path()).encode(kTexts[0]).ids, tokenizer.encode(kTexts[0]).ids);
}

TEST(TrainSentencePiece, TwoRunsGiveTheSameFile) {
  const test::TrainingGolden golden;
  EXPECT_EQ(train_sentencepiece_file(golden.lines(), small(true)),
            train_sentencepiece_file(golden.lines(), small(true)));
}

TEST(TrainSentencePiece, ASampleOfAllLinesIsAllLinesInTheirOrder) {
  const test::TrainingGolden golden;
  SentencePieceTrainingOptions options = small(false);
  const std::string all = train_sentencepiece_file(golden.lines(), options);
  options.max_lines = 1'000'000;
  EXPECT_EQ(train_sentencepiece_file(golden.lines(), options), all);
  options.max_lines = 20;
  const std::string some = train_sentencepiece_file(golden.lines(), options);
  EXPECT_NE(some, all);
  EXPECT_EQ(train_sentencepiece_file(golden.lines(), options), some);
}

TEST(TrainSentencePiece, ErrorsHaveTheMessageOfTheLibrary) {
  EXPECT_ERROR(train_sentencepiece(test::source_of({})), "no words");
  SentencePieceTrainingOptions options;
  options.vocab_size = 3;
  EXPECT_ERROR(train_sentencepiece(test::source_of({"some words"}), options), "SentencePiece failed");
}

}  // namespace
}  // namespace attend
