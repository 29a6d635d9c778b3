// The generators of the five tasks, and sequences from text.
#include "attend/tasks/algorithm/algorithm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"

namespace attend {
namespace {

constexpr std::int32_t kNone = AlgorithmSequence::kNoTarget;

std::vector<float> input_at(const AlgorithmSequence& s, std::int64_t t) {
  return {s.input.begin() + t * s.inputs, s.input.begin() + (t + 1) * s.inputs};
}
std::vector<std::int32_t> target_at(const AlgorithmSequence& s, std::int64_t t) {
  return {s.target.begin() + t * s.outputs, s.target.begin() + (t + 1) * s.outputs};
}
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

TEST(Algorithm, TheSameSeedAndIndexGiveTheSameSequenceAndOthersDiffer) {
  for (const auto& [name, task] : kAlgorithmTaskNames) {
    const AlgorithmOptions o = AlgorithmOptions::of(task);
    const AlgorithmSequence one = make_sequence(o, 1, 7), again = make_sequence(o, 1, 7);
    EXPECT_EQ(one.input, again.input) << name;
    EXPECT_EQ(one.target, again.target) << name;
    EXPECT_NE(one.input, make_sequence(o, 1, 8).input) << name;
    EXPECT_NE(one.input, make_sequence(o, 2, 7).input) << name;
    EXPECT_EQ(std::ssize(one.input), one.steps * o.inputs()) << name;
    EXPECT_EQ(std::ssize(one.target), one.steps * o.outputs()) << name;
  }
}

TEST(Algorithm, LengthsCoverTheirRangeAndObeyTheCurriculum) {
  const AlgorithmOptions o = AlgorithmOptions::of(AlgorithmTask::copy);
  std::vector<int> seen(21);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ++seen[static_cast<std::size_t>(make_sequence(o, 1, i).length)];
    EXPECT_LE(make_sequence(o, 1, i, 3).length, 3);
  }
  EXPECT_EQ(seen[0], 0);
  for (std::size_t length = 1; length <= 20; ++length) EXPECT_GT(seen[length], 20) << length;
}

TEST(Algorithm, CopyRepeatsItsVectorsAfterTheDelimiter) {
  AlgorithmOptions o;
  o.bits = 3;
  const AlgorithmSequence s = parse_sequence(o, "011 100");
  EXPECT_EQ(s.steps, 5);
  EXPECT_EQ(input_at(s, 0), (Floats{-1, 1, 1, 0}));
  EXPECT_EQ(input_at(s, 2), (Floats{0, 0, 0, 1}));
  EXPECT_EQ(input_at(s, 3), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(target_at(s, 2), (Ints{kNone, kNone, kNone}));
  EXPECT_EQ(target_at(s, 3), (Ints{0, 1, 1}));
  EXPECT_EQ(target_at(s, 4), (Ints{1, 0, 0}));
  EXPECT_EQ(s.targets(), 6);
}

TEST(Algorithm, RepeatCopyEndsWithAMark) {
  AlgorithmOptions o = AlgorithmOptions::of(AlgorithmTask::repeat_copy);
  o.bits = 2;
  const AlgorithmSequence s = parse_sequence(o, "01 11 x2");
  EXPECT_EQ(s.steps, 2 + 1 + 4 + 1);
  EXPECT_EQ(input_at(s, 2)[2], 1.f);
  EXPECT_NEAR(input_at(s, 2)[3], (2 - 5.5) / std::sqrt(99. / 12), 1e-6);
  EXPECT_EQ(target_at(s, 3), (Ints{0, 1, 0}));
  EXPECT_EQ(target_at(s, 6), (Ints{1, 1, 0}));
  EXPECT_EQ(target_at(s, 7), (Ints{0, 0, 1}));
}

TEST(Algorithm, RecallAsksForTheItemAfterTheQuery) {
  AlgorithmOptions o = AlgorithmOptions::of(AlgorithmTask::recall);
  o.bits = 2, o.item_length = 1;
  const AlgorithmSequence s = parse_sequence(o, "01 | 11 | 10 ? 11");
  EXPECT_EQ(s.steps, 3 * 2 + 3 + 1);
  EXPECT_EQ(input_at(s, 0), (Floats{0, 0, 1, 0}));
  EXPECT_EQ(input_at(s, 6), (Floats{0, 0, 0, 1}));
  EXPECT_EQ(input_at(s, 7), (Floats{1, 1, 0, 0}));
  EXPECT_EQ(target_at(s, 9), (Ints{1, 0}));
}

TEST(Algorithm, SortWantsTheHighestPrioritiesFirst) {
  AlgorithmOptions o = AlgorithmOptions::of(AlgorithmTask::sort);
  o.bits = 2, o.sorted = 2;
  const AlgorithmSequence s = parse_sequence(o, "01:-0.5 11:0.75 10:0.25");
  EXPECT_EQ(s.steps, 3 + 1 + 2);
  EXPECT_EQ(input_at(s, 1), (Floats{1, 1, 0.75f, 0}));
  EXPECT_EQ(target_at(s, 4), (Ints{1, 1}));
  EXPECT_EQ(target_at(s, 5), (Ints{1, 0}));
}

TEST(Algorithm, TheOptimalEstimatorOfNGramsCountsWhatFollowedEachContext) {
  AlgorithmOptions o = AlgorithmOptions::of(AlgorithmTask::ngrams);
  o.context = 1;
  const AlgorithmSequence s = parse_sequence(o, "1101");
  // After 1: 1 (probability ½), 0 (1 - 1.5 / 2); after 0: 1 (½).
  EXPECT_NEAR(s.optimal_bits, 1 + 2 + 1, 1e-6);
  EXPECT_EQ(s.optimal, (Floats{0.5f, 0.75f, 0.5f}));
}

TEST(Algorithm, NoEstimatorWithoutTheTableBeatsTheOptimalOneOnAverage) {
  const AlgorithmOptions o = AlgorithmOptions::of(AlgorithmTask::ngrams);
  double optimal = 0, other = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const AlgorithmSequence s = make_sequence(o, 3, i);
    EXPECT_EQ(s.targets(), 195);
    optimal += s.optimal_bits / 200;
    for (std::size_t t = 0; t < s.optimal.size(); ++t) {
      if (s.target[t] == kNone) continue;
      const double p = 0.2 + 0.6 * s.optimal[t];  // a less certain estimator
      other -= std::log2(s.target[t] == 1 ? p : 1 - p) / 200;
    }
  }
  EXPECT_LT(optimal, other);
  EXPECT_GT(optimal, 110);
  EXPECT_LT(optimal, 145);
}

TEST(Algorithm, BadTextsAndSizesAreInputErrors) {
  const AlgorithmOptions copy = AlgorithmOptions::of(AlgorithmTask::copy);
  EXPECT_ERROR(parse_sequence(copy, "0110"), "wrong number of bits: got 4 in \"0110\", expected 8");
  EXPECT_ERROR(parse_sequence(copy, "0110a001"), "consists of the digits 0 and 1");
  EXPECT_ERROR(parse_sequence(copy, "  "), "the input is empty");
  const AlgorithmOptions repeat = AlgorithmOptions::of(AlgorithmTask::repeat_copy);
  EXPECT_ERROR(parse_sequence(repeat, "01101100"), "number of repeats, such as x3");
  EXPECT_ERROR(parse_sequence(repeat, "01101100 x0"), "repeats is out of range: got 0");
  const AlgorithmOptions sort = AlgorithmOptions::of(AlgorithmTask::sort);
  EXPECT_ERROR(parse_sequence(sort, "01101100"), "BITS:PRIORITY");
  EXPECT_ERROR(parse_sequence(sort, "01101100:2"), "priority is out of range: got 2");
  const AlgorithmOptions recall = AlgorithmOptions::of(AlgorithmTask::recall);
  EXPECT_ERROR(parse_sequence(recall, "011011 011011 011011"), "at least two items");
  AlgorithmOptions wrong = copy;
  wrong.min_length = 30;
  EXPECT_ERROR(wrong.check(), "the shortest length is out of range: got 30, expected 1 to 20");
  wrong = AlgorithmOptions::of(AlgorithmTask::ngrams);
  wrong.bits = 2;
  EXPECT_ERROR(wrong.check(), "n-grams are sequences of single bits");
  EXPECT_THROW(wrong.check(), InputError);
}

TEST(Algorithm, OptionsSurviveTheirConfiguration) {
  for (const auto& [name, task] : kAlgorithmTaskNames) {
    AlgorithmOptions o = AlgorithmOptions::of(task);
    const AlgorithmOptions back = AlgorithmOptions::read(o.config());
    EXPECT_EQ(back.config().dump(), o.config().dump()) << name;
  }
}

TEST(Algorithm, ABatchIsPaddedWithoutTargets) {
  AlgorithmOptions o;
  o.bits = 2;
  const std::vector<AlgorithmSequence> both{parse_sequence(o, "01"), parse_sequence(o, "01 11")};
  const AlgorithmBatch batch = batch_of(both);
  EXPECT_EQ(batch.input.shape(), (Shape{2, 5, 3}));
  EXPECT_EQ(batch.targets, 2 + 4);
  EXPECT_EQ(batch.steps, 3 + 5);
  EXPECT_EQ(batch.target.data<std::int32_t>()[2 * 2 + 1], 1);
  EXPECT_EQ(batch.target.data<std::int32_t>()[3 * 2], kNone);
}

}  // namespace
}  // namespace attend
