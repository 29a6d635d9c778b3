#include "attend/tasks/masked_lm/training.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/support/errors.h"

namespace attend {
namespace {

/// Documents of `sentences` sentences each; every token tells where it is from: 1000 · document + 10 · sentence +
/// place.
std::vector<Document> numbered(std::int32_t documents, std::int32_t sentences, std::int32_t tokens) {
  std::vector<Document> all;
  for (std::int32_t d = 1; d <= documents; ++d) {
    Document& document = all.emplace_back();
    for (std::int32_t s = 0; s < sentences; ++s) {
      Sentence& sentence = document.emplace_back();
      for (std::int32_t t = 0; t < tokens; ++t)
        sentence.ids.push_back(1000 * d + 10 * s + t), sentence.begins.push_back(t % 2 == 0);
    }
  }
  return all;
}

TEST(PreTraining, ExamplesHoldEveryTokenOnceAndStayInTheirDocument) {
  const std::vector<Document> documents = numbered(3, 9, 4);
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

TEST(PreTraining, TheSecondTextFollowsOrIsFromElsewhereHalfOfTheTime) {
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
  EXPECT_ERROR(make_examples({}, {.max_tokens = 3}), "room for 5 tokens at least: got 3");
}

TEST(PreTraining, HidesTheShareThatIsAskedForAsDevlinDoes) {
  std::vector<std::int32_t> ids(20002);
  std::vector<std::uint8_t> begins(ids.size(), 1);
  std::iota(ids.begin(), ids.end(), 1000);
  begins.front() = begins.back() = 2;  // special
  const std::vector<std::int32_t> before = ids;
  const MaskingOptions options{.mask = 7, .words = {1, 2, 3}};
  const Hidden hidden = hide(ids, begins, options, {1, 2});
  EXPECT_EQ(hidden.places.size(), 3000u);
  EXPECT_EQ(std::set(hidden.places.begin(), hidden.places.end()).size(), 3000u);
  std::int64_t masked = 0, random = 0, same = 0;
  for (std::size_t i = 0; i < hidden.places.size(); ++i) {
    const auto place = static_cast<std::size_t>(hidden.places[i]);
    EXPECT_EQ(hidden.words[i], before[place]);
    masked += ids[place] == 7, random += ids[place] < 4, same += ids[place] == before[place];
  }
  EXPECT_NEAR(static_cast<double>(masked), 2400, 120);
  EXPECT_NEAR(static_cast<double>(random), 300, 90);
  EXPECT_EQ(masked + random + same, 3000);
  EXPECT_EQ(ids.front(), before.front());
  std::vector<std::int32_t> again = before, other = before;
  EXPECT_EQ(hide(again, begins, options, {1, 2}).places, hidden.places);
  EXPECT_EQ(again, ids);
  EXPECT_NE(hide(other, begins, options, {1, 3}).places, hidden.places);
}

TEST(PreTraining, WholeWordsAreHiddenWholeAndAShortTextHidesOne) {
  std::vector<std::int32_t> ids(302);
  std::vector<std::uint8_t> begins(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) begins[i] = i % 3 == 1;  // words of three pieces
  begins.front() = begins.back() = 2;
  const Hidden hidden = hide(ids, begins, {.whole_words = true, .mask = 7}, {1, 2});
  EXPECT_EQ(hidden.places.size(), 45u);
  for (std::size_t i = 0; i < hidden.places.size(); i += 3) {
    EXPECT_EQ(hidden.places[i] % 3, 1);
    EXPECT_EQ(hidden.places[i + 2], hidden.places[i] + 2);
  }
  std::vector<std::int32_t> one{5, 6, 5}, none{5, 5};
  EXPECT_EQ(hide(one, {2, 1, 2}, {.mask = 7}, {1, 2}).words, std::vector<std::int32_t>{6});
  EXPECT_TRUE(hide(none, {2, 2}, {.mask = 7}, {1, 2}).places.empty());
}

}  // namespace
}  // namespace attend
