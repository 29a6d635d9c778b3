#include "attend/tasks/stories/story_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/text/training/train_words.h"

namespace attend {
namespace {

const std::vector<std::string> kStory = {"Mary went to the kitchen.", "John went to the garden.",
                                         "Mary went to the kitchen."};

std::vector<std::int32_t> ints(const Tensor& x) {
  return {x.span<std::int32_t>().begin(), x.span<std::int32_t>().end()};
}

Tokenizer words() {
  return train_words(
      [at = 0](std::string& line) mutable {
        line = "mary john went to the kitchen garden where is";
        return at++ == 0;
      },
      {.lowercase = true, .append_eos = false});
}

StorySet set_of(std::int64_t memory = 50) {
  StorySet set(words(), {"garden", "kitchen"}, memory);
  set.add(kStory, "Where is Mary?", "kitchen", 1);
  set.add(std::span(kStory).first(2), "Where is John?", "roof", 2);
  return set;
}

TEST(StorySet, SentencesAreStoredOnceAndWithoutTheMarkAtTheirEnd) {
  const StorySet set = set_of();
  EXPECT_EQ(set[0].story[0], set[0].story[2]);
  EXPECT_EQ(set.words(set[0].story[0]), words().ids("mary went to the kitchen"));
  EXPECT_EQ(set.words(set[0].question), words().ids("where is mary"));
  EXPECT_EQ(set[0].answer, 1);
  EXPECT_EQ(set[1].answer, -1) << "an answer that the model does not know";
  EXPECT_EQ(set.lengths(), (std::vector<std::int32_t>{18, 13}));
  EXPECT_EQ(without_end_mark("Where is Mary? "), "Where is Mary");
  EXPECT_EQ(without_end_mark("?!"), "");
}

TEST(StorySet, OnlyTheLastSentencesFitIntoTheMemory) {
  const StorySet set = set_of(2);
  EXPECT_EQ(set[0].story.size(), 2u);
  EXPECT_EQ(set.words(set[0].story[0]), words().ids("john went to the garden"));
}

TEST(StorySet, BatchesOfAMemoryNetworkNameEachSentenceOnceAndCountTimesFromTheQuestion) {
  const StorySet set = set_of();
  const std::int64_t both[] = {0, 1};
  const StoryBatch batch = story_batch(set, both, 50);
  EXPECT_EQ(batch.sentences.shape(), (Shape{2, 5}));
  EXPECT_EQ(ints(batch.stories), (std::vector<std::int32_t>{0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(ints(batch.times), (std::vector<std::int32_t>{2, 1, 0, 1, 0, 0}));
  EXPECT_EQ(ints(batch.lengths), (std::vector<std::int32_t>{3, 2}));
  EXPECT_EQ(batch.questions.shape(), (Shape{2, 3}));
}

TEST(StorySet, TimeNoiseMakesGapsKeepsTheOrderAndStaysInTheMemory) {
  StorySet set(words(), {"garden"}, 50);
  const std::vector<std::string> story(40, "Mary went to the kitchen.");
  set.add(story, "Where is Mary?");
  const std::int64_t first = 0;
  bool gaps = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StoryBatch batch = story_batch(set, std::span(&first, 1), 42, {0.1f, {seed, 0}});
    const std::vector<std::int32_t> times = ints(batch.times);
    EXPECT_TRUE(std::ranges::is_sorted(times, std::greater_equal())) << "each sentence is younger than the one before";
    EXPECT_LT(times.front(), 42);
    EXPECT_GE(times.back(), 0);
    gaps |= times.front() > 39;
    EXPECT_EQ(times, ints(story_batch(set, std::span(&first, 1), 42, {0.1f, {seed, 0}}).times));
  }
  EXPECT_TRUE(gaps);
}

TEST(StorySet, FlatBatchesAreOneSequenceThatLosesItsBeginningIfItIsTooLong) {
  const StorySet set = set_of();
  const std::int64_t second = 1;
  const TokenBatch whole = flat_batch(set, std::span(&second, 1), {.first = 1, .end = 2, .padding = 0});
  std::vector<std::int32_t> expected{1};
  for (const char* part : {"mary went to the kitchen", "john went to the garden"}) {
    for (const std::int32_t id : words().ids(part)) expected.push_back(id);
    expected.push_back(2);
  }
  for (const std::int32_t id : words().ids("where is john")) expected.push_back(id);
  EXPECT_EQ(ints(whole.ids), expected);
  const TokenBatch cut = flat_batch(set, std::span(&second, 1), {.first = 1, .end = 2, .padding = 0, .max_tokens = 6});
  EXPECT_EQ(ints(cut.ids), (std::vector<std::int32_t>{1, expected[11], 2, expected[13], expected[14], expected[15]}));
}

}  // namespace
}  // namespace attend
