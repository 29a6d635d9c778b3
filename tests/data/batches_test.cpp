#include "attend/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;
using Batch = std::vector<std::int64_t>;

/// Random lengths from 1 to 60, mostly short, like those of sentences.
Ids sentence_lengths(std::size_t count, std::uint64_t stream = 0) {
  Ids lengths;
  for (std::size_t i = 0; i < count; ++i) {
    const float u = uniform_from(philox({5, stream}, i)[0]);
    lengths.push_back(1 + static_cast<std::int32_t>(59 * u * u));
  }
  return lengths;
}

std::vector<Batch> epoch_of(BatchSampler& sampler) {
  std::vector<Batch> batches;
  for (std::int64_t left = sampler.batches(); left > 0; --left) batches.push_back(sampler.next());
  return batches;
}

TEST(BatchSampler, GivesEverySequenceOnceAnEpochWithinTheBudget) {
  const Ids sources = sentence_lengths(5000), targets = sentence_lengths(5000, 1);
  for (const bool shuffle : {true, false})
    for (const std::int64_t pool : {0, 700}) {
      BatchSampler sampler = BatchSampler::pairs(
          sources, targets, {.max_tokens = 1000, .max_sequences = 100, .shuffle = shuffle, .pool = pool});
      for (int epoch = 0; epoch < 2; ++epoch) {
        std::multiset<std::int64_t> seen;
        for (const Batch& batch : epoch_of(sampler)) {
          std::int64_t longest = 0;
          for (const std::int64_t i : batch) {
            longest = std::max<std::int64_t>(
                {longest, sources[static_cast<std::size_t>(i)], targets[static_cast<std::size_t>(i)]});
            seen.insert(i);
          }
          EXPECT_LE(longest * static_cast<std::int64_t>(batch.size()), 1000);
          EXPECT_LE(batch.size(), 100u);
          EXPECT_GE(batch.size(), 1u);
        }
        Batch all(sources.size());
        std::iota(all.begin(), all.end(), 0);
        EXPECT_TRUE(std::ranges::equal(seen, all));
      }
      EXPECT_EQ(sampler.position(), (BatchPosition{0, 2, 0}));
    }
}

TEST(BatchSampler, BucketsKeepPaddingSmall) {
  const BatchSampler single(sentence_lengths(20000), {.max_tokens = 2000});
  EXPECT_LT(single.padding(), 0.02);
  Ids sources = sentence_lengths(20000), targets;
  for (std::size_t i = 0; i < sources.size(); ++i)  // a translation has a similar length
    targets.push_back(std::max(1, sources[i] + static_cast<std::int32_t>(philox({6, 0}, i)[0] % 5) - 2));
  EXPECT_LT(BatchSampler::pairs(sources, targets, {.max_tokens = 2000}).padding(), 0.07);
  EXPECT_GT(BatchSampler::pairs(sources, targets, {.max_tokens = 2000, .pool = 1}).batches(), 19999)
      << "a pool of one: no mixing";
}

TEST(BatchSampler, ASeedDecidesEverythingAndEpochsDiffer) {
  BatchSampler one(sentence_lengths(500), {.max_tokens = 200, .seed = 3});
  BatchSampler same(sentence_lengths(500), {.max_tokens = 200, .seed = 3});
  BatchSampler other(sentence_lengths(500), {.max_tokens = 200, .seed = 4});
  const auto first = epoch_of(one), second = epoch_of(one);
  EXPECT_EQ(first, epoch_of(same));
  EXPECT_NE(first, epoch_of(other));
  EXPECT_NE(first, second);
}

TEST(BatchSampler, AResumedRunGivesTheSameBatchesFromAnyPosition) {
  for (const bool shuffle : {true, false}) {
    const BatchOptions options{.max_tokens = 300, .shuffle = shuffle, .seed = 9, .pool = 64};
    BatchSampler unbroken(sentence_lengths(300), options);
    std::vector<std::pair<BatchPosition, Batch>> history;
    for (int step = 0; step < 100; ++step) {
      const BatchPosition position = unbroken.position();
      history.emplace_back(position, unbroken.next());
    }
    EXPECT_GT(history.back().first.epoch, 1);
    for (std::size_t stop = 0; stop < history.size(); stop += 7) {
      BatchSampler resumed(sentence_lengths(300), options);
      resumed.restore(history[stop].first);
      for (std::size_t step = stop; step < history.size(); ++step) EXPECT_EQ(resumed.next(), history[step].second);
    }
  }
}

TEST(BatchSampler, APositionOfOtherDataIsAnErrorAndChangesNothing) {
  BatchSampler sampler(sentence_lengths(50), {.max_tokens = 100});
  sampler.next();
  const BatchPosition before = sampler.position();
  EXPECT_ERROR(sampler.restore({0, 3, 10000}), "cannot resume from batch 10000 of epoch 3");
  EXPECT_ERROR(sampler.restore({0, -1, 0}), "cannot resume");
  EXPECT_EQ(sampler.position(), before);
  BatchSampler untouched(sentence_lengths(50), {.max_tokens = 100});
  untouched.next();
  EXPECT_EQ(sampler.next(), untouched.next());
}

TEST(BatchSampler, ASequenceThatIsTooLongIsABatchOfItsOwnOrAnError) {
  const Ids lengths = {5, 50, 3, 4};
  BatchSampler alone(lengths, {.max_tokens = 20, .shuffle = false});
  EXPECT_EQ(epoch_of(alone), (std::vector<Batch>{{2, 3, 0}, {1}}));
  EXPECT_ERROR(BatchSampler(lengths, {.max_tokens = 20, .too_long = TooLong::error}),
               "sequence 1 does not fit: got 50 tokens, expected at most 20");
}

TEST(BatchSampler, WithoutShufflingTheShortestComeFirst) {
  BatchSampler sampler(Ids{3, 1, 2, 1}, {.max_sequences = 2, .shuffle = false});
  EXPECT_EQ(epoch_of(sampler), (std::vector<Batch>{{1, 3}, {2, 0}}));
  EXPECT_EQ(epoch_of(sampler), (std::vector<Batch>{{1, 3}, {2, 0}}));
}

TEST(BatchSampler, EmptySequencesCountAsOneToken) {
  BatchSampler sampler(Ids(10, 0), {.max_tokens = 4});
  EXPECT_EQ(sampler.batches(), 3);
  EXPECT_EQ(sampler.padding(), 0);
}

TEST(BatchSampler, InvalidOptionsAreErrors) {
  EXPECT_ERROR(BatchSampler(Ids{}), "got 0 sequences");
  EXPECT_ERROR(BatchSampler::pairs(Ids{1}, Ids{1, 2}), "got 1 sources and 2 targets");
  EXPECT_ERROR(BatchSampler(Ids{1}, {.max_tokens = 0}), "max_tokens 0");
}

TEST(Shuffled, IsAFairPermutation) {
  std::vector<int> first(6);  // how often each number is first
  for (std::uint64_t stream = 0; stream < 6000; ++stream) {
    Batch order = shuffled(6, {1, stream});
    ++first[static_cast<std::size_t>(order[0])];
    std::ranges::sort(order);
    ASSERT_EQ(order, (Batch{0, 1, 2, 3, 4, 5}));
  }
  for (const int count : first) EXPECT_NEAR(count, 1000, 120);
  EXPECT_TRUE(shuffled(0, {}).empty());
}

TEST(Pad, PadsToTheLongest) {
  const std::vector<Ids> sequences = {{1, 2, 3}, {4}, {}, {5, 6}};
  const TokenBatch batch = pad(sequences, Batch{1, 0, 2}, 9);
  EXPECT_EQ(batch.ids.shape(), (Shape{3, 3}));
  EXPECT_TRUE(std::ranges::equal(batch.ids.span<std::int32_t>(), Ids{4, 9, 9, 1, 2, 3, 9, 9, 9}));
  EXPECT_TRUE(std::ranges::equal(batch.lengths.span<std::int32_t>(), Ids{1, 3, 0}));
  EXPECT_EQ(batch.tokens, 4);
  EXPECT_EQ(pad(sequences, Batch{}, 0).ids.shape(), (Shape{0, 0}));
}

TEST(Pad, PadsFeaturesWithZeros) {
  const std::vector<Tensor> sequences = {Tensor::from({1, 2, 3, 4}, {2, 2}), Tensor::from({5, 6}, {1, 2}),
                                         Tensor::empty({0, 2})};
  const FeatureBatch batch = pad(sequences);
  EXPECT_EQ(batch.features.shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(batch.features.to_vector(), (std::vector<float>{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(std::ranges::equal(batch.lengths.span<std::int32_t>(), Ids{2, 1, 0}));
  EXPECT_EQ(batch.frames, 3);
  EXPECT_EQ(pad(std::span<const Tensor>()).features.shape(), (Shape{0, 0, 0}));
  EXPECT_ERROR(pad(std::vector{sequences[0], Tensor::zeros({2, 3})}), "got [2, 3], expected float32 [T, 2]");
  EXPECT_ERROR(pad(std::vector{Tensor::zeros({2})}), "got [2]");
}

TEST(WindowBatch, TargetsAreTheInputsOneLater) {
  const test::TempFolder folder;
  TokenStoreWriter writer(folder / "store", 100);
  writer.add(Ids{10, 11, 12, 13, 14}), writer.end_document();
  writer.add(Ids{20, 21}), writer.end_document();
  writer.commit();
  const TokenWindows windows(TokenStore(folder / "store"), 3, false);
  BatchSampler sampler(windows.lengths(), {.max_sequences = 3, .shuffle = false});
  const Batch chosen = sampler.next();
  ASSERT_EQ(chosen, (Batch{1, 2, 0}));
  const WindowBatch batch = window_batch(windows, chosen, 99);
  EXPECT_TRUE(std::ranges::equal(batch.inputs.span<std::int32_t>(), Ids{13, 99, 99, 20, 99, 99, 10, 11, 12}));
  EXPECT_TRUE(std::ranges::equal(batch.targets.span<std::int32_t>(), Ids{14, -100, -100, 21, -100, -100, 11, 12, 13}));
  EXPECT_TRUE(std::ranges::equal(batch.lengths.span<std::int32_t>(), Ids{1, 1, 3}));
  EXPECT_EQ(batch.tokens, 5);
}

TEST(RandomWindows, ComeFromEverywhereAndFollowTheKey) {
  const test::TempFolder folder;
  TokenStoreWriter writer(folder / "store", 100);
  Ids ids(20);
  std::iota(ids.begin(), ids.end(), 0);
  writer.add(ids), writer.commit();
  const TokenStore store(folder / "store");
  std::set<std::int32_t> begins;
  for (std::uint64_t step = 0; step < 50; ++step) {
    const WindowBatch batch = random_windows(store, 4, 8, {1, step});
    ASSERT_EQ(batch.inputs.shape(), (Shape{4, 8}));
    const auto inputs = batch.inputs.span<std::int32_t>(), targets = batch.targets.span<std::int32_t>();
    for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(targets[i], inputs[i] + 1);
    for (std::size_t b = 0; b < 4; ++b) begins.insert(inputs[b * 8]);
    EXPECT_TRUE(std::ranges::equal(inputs, random_windows(store, 4, 8, {1, step}).inputs.span<std::int32_t>()));
  }
  EXPECT_EQ(begins.size(), 12u) << "all places but those too near the end";
  EXPECT_ERROR(random_windows(store, 1, 20, {}), "got 20 tokens, expected at least 21");
}

}  // namespace
}  // namespace attend
