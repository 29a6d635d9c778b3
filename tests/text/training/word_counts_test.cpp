#include "attend/text/training/word_counts.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"
#include "tests/text/training_golden.h"

namespace attend {
namespace {

using Counts = std::vector<WordCount>;

TEST(WordCounts, DoNotDependOnThreads) {
  const int before = threads();
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    EXPECT_EQ(count_words(test::source_of({"b a b", "", "c, a"}), {}, {pre_tokenizer::Bert{}}),
              (Counts{{",", 1}, {"a", 2}, {"b", 2}, {"c", 1}}));
  }
  set_threads(before);
}

TEST(WordCounts, WithByteLevelWordsAreInByteLetters) {
  EXPECT_EQ(count_words(test::source_of({"é é"}), {}, {pre_tokenizer::ByteLevel{.add_prefix_space = false}}),
            (Counts{{"Ã©", 1}, {"ĠÃ©", 1}}));
}

TEST(WordCounts, TextIsNormalisedAndRepaired) {
  EXPECT_EQ(count_words(test::source_of({"A\xFF a"}), {normalizer::Lowercase{}}, {pre_tokenizer::WhitespaceSplit{}}),
            (Counts{{"a", 1}, {"a\uFFFD", 1}}));
}

}  // namespace
}  // namespace attend
