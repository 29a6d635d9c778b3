#include "attend/tasks/masked_lm/examples.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

/// Documents of `sentences` sentences each. A token is 1000 · document + 10 · sentence + position, so that a test can
/// see where it comes from.
SentenceStore numbered(std::int32_t documents, std::int32_t sentences, std::int32_t tokens) {
  const test::TempFolder folder;
  TokenStoreWriter writer(folder / "sentences", 2'000'000);
  for (std::int32_t d = 1; d <= documents; ++d) {
    writer.end_document();
    for (std::int32_t s = 0; s < sentences; ++s) {
      Sentence sentence;
      for (std::int32_t t = 0; t < tokens; ++t)
        sentence.ids.push_back(1000 * d + 10 * s + t), sentence.begins.push_back(t % 2 == 0);
      writer.add(SentenceStore::packed(sentence));
      writer.end_document();
    }
  }
  writer.commit();
  return SentenceStore(TokenStore(folder / "sentences"));
}

/// All examples.
std::vector<PreTrainingExample> make_examples(const SentenceStore& sentences, const ExampleOptions& options) {
  const PreTrainingExamples examples(sentences, options);
  const std::vector<std::int32_t> lengths = examples.lengths();
  std::vector<PreTrainingExample> all;
  for (std::int64_t i = 0; i < examples.size(); ++i) {
    all.push_back(examples[i]);
    EXPECT_EQ(static_cast<std::size_t>(lengths.at(static_cast<std::size_t>(i))), all.back().ids.size());
  }
  return all;
}

TEST(PreTraining, StoredSentencesKeepTheKindsOfTheirTokens) {
  const SentenceStore store = numbered(2, 3, 4);
  ASSERT_EQ(store.documents(), 2);
  EXPECT_EQ(store.sentences(0), 3);
  EXPECT_EQ(store.sentences(1), 3);
  const Sentence sentence = store.read(store.sentence(1, 2));
  EXPECT_EQ(sentence.ids, (std::vector<std::int32_t>{2020, 2021, 2022, 2023}));
  EXPECT_EQ(sentence.begins, (std::vector<std::uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(SentenceStore().documents(), 0);
}

TEST(PreTraining, ExamplesHoldEveryTokenOnceAndStayInTheirDocument) {
  const SentenceStore documents = numbered(3, 9, 4);
  std::multiset<std::int32_t> seen;
  for (const PreTrainingExample& example :
       make_examples(documents, {.max_tokens = 14, .next_sentence = false, .classify = 1, .separator = 2})) {
    EXPECT_LE(example.ids.size(), 14u);
    EXPECT_EQ(example.ids.front(), 1);
    EXPECT_EQ(example.ids.back(), 2);
    EXPECT_EQ(example.begins.size(), example.ids.size());
    EXPECT_EQ(example.second, static_cast<std::int64_t>(example.ids.size()));
    std::set<std::int32_t> from;
    for (std::size_t i = 1; i + 1 < example.ids.size(); ++i) {
      seen.insert(example.ids[i]), from.insert(example.ids[i] / 1000);
    }
    EXPECT_EQ(from.size(), 1u);
  }
  EXPECT_EQ(seen.size(), 3u * 9 * 4);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
}

TEST(PreTraining, ASentenceLongerThanAnExampleIsCut) {
  const auto examples = make_examples(numbered(1, 1, 9), {.max_tokens = 6, .next_sentence = false, .separator = 2});
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[2].ids, (std::vector<std::int32_t>{0, 1008, 2}));
}

TEST(PreTraining, HalfOfTheSecondTextsAreFromAnotherDocument) {
  const auto examples =
      make_examples(numbered(400, 6, 5), {.max_tokens = 33, .next_sentence = true, .classify = 1, .separator = 2});
  ASSERT_EQ(examples.size(), 400u);
  std::int64_t random = 0;
  for (const PreTrainingExample& example : examples) {
    const auto second = static_cast<std::size_t>(example.second);
    ASSERT_LT(second, example.ids.size());
    EXPECT_EQ(example.ids[second - 1], 2);
    const std::int32_t last = example.ids[second - 2], first = example.ids[second];
    EXPECT_EQ(last / 1000 != first / 1000, example.random == 1);
    if (!example.random) {
      EXPECT_EQ(first / 10, last / 10 + 1);
    }
    EXPECT_LE(example.ids.size(), 33u);
    random += example.random;
  }
  EXPECT_NEAR(static_cast<double>(random), 200, 40);
  EXPECT_TRUE(make_examples(numbered(5, 1, 4), {.next_sentence = true}).empty());
  EXPECT_ERROR(PreTrainingExamples({}, {.max_tokens = 3}), "max_tokens must be at least 5: got 3");
}

}  // namespace
}  // namespace attend
