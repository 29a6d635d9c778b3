// Search against a model small enough to try everything: the next word depends on the last one only.
#include "attend/decode/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "attend/core/error.h"
#include "attend/core/random.h"
#include "attend/ops/softmax.h"

namespace attend {
namespace {

constexpr std::int64_t kWords = 6;
constexpr std::int32_t kStart = 0, kEnd = 1;

/// Logits after word w, for sentence s: table[s, w]. Remembers which sentence each row belongs to, as a model does.
class Chain : public Stepper {
 public:
  Chain(Tensor table, std::vector<std::int64_t> sentences)
      : table_(std::move(table)), sentences_(std::move(sentences)) {}

  Tensor step(const Tensor& words) override {
    const auto N = static_cast<std::int64_t>(sentences_.size());
    EXPECT_EQ(words.numel(), N);
    Tensor logits = Tensor::empty({N, kWords});
    for (std::int64_t i = 0; i < N; ++i) {
      const std::int64_t s = sentences_[static_cast<std::size_t>(i)], w = words.data<std::int32_t>()[i];
      std::copy_n(table_.data() + (s * kWords + w) * kWords, kWords, logits.data() + i * kWords);
    }
    most_rows = std::max(most_rows, N);
    return logits;
  }
  void select(std::span<const std::int64_t> rows) override {
    std::vector<std::int64_t> picked;
    for (const std::int64_t row : rows) picked.push_back(sentences_[static_cast<std::size_t>(row)]);
    sentences_ = std::move(picked);
  }
  Tensor attention() const override {  // which sentence it looks at
    Tensor weights = Tensor::zeros({static_cast<std::int64_t>(sentences_.size()), 3});
    for (std::size_t i = 0; i < sentences_.size(); ++i)
      weights.data()[i * 3 + static_cast<std::size_t>(sentences_[i])] = 1;
    return weights;
  }
  std::int64_t most_rows = 0;

 private:
  Tensor table_;
  std::vector<std::int64_t> sentences_;
};

Tensor random_table(std::uint64_t seed) {
  Generator generator(seed);
  Tensor table = Tensor::empty({3, kWords, kWords});
  fill_normal(table, 0, 1.5f, generator);
  return table;
}

/// The best sentence of at most `most` words, found by trying all.
Hypothesis exhaustive(const Tensor& table, std::int64_t sentence, std::int64_t most, double penalty) {
  Hypothesis best;
  best.score = -1e30;
  std::vector<std::int32_t> ids;
  const Tensor logs = log_softmax(table);
  std::function<void(std::int32_t, double)> extend = [&](std::int32_t last, double sum) {
    for (std::int32_t w = 0; w < kWords; ++w) {
      ids.push_back(w);
      const double next = sum + logs.data()[(sentence * kWords + last) * kWords + w];
      const double score = next / std::pow(static_cast<double>(ids.size()), penalty);
      if (w == kEnd && score > best.score) best.ids = ids, best.score = score, best.log_probability = next;
      if (w != kEnd && static_cast<std::int64_t>(ids.size()) < most) extend(w, next);
      ids.pop_back();
    }
  };
  extend(kStart, 0);
  return best;
}

TEST(Search, AWideBeamFindsTheBestSentence) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Tensor table = random_table(seed);
    Chain chain(table, {0, 1, 2});
    const auto found = search(chain, 3, {.beam = 2000, .max_new_tokens = 5, .start = kStart, .end = kEnd});
    for (std::int64_t s = 0; s < 3; ++s) {
      const Hypothesis best = exhaustive(table, s, 5, 1.0);
      EXPECT_EQ(found[static_cast<std::size_t>(s)][0].ids, best.ids) << "seed " << seed << ", sentence " << s;
      EXPECT_NEAR(found[static_cast<std::size_t>(s)][0].score, best.score, 1e-5);
    }
  }
}

TEST(Search, GreedyTakesTheLikeliestWordEachTime) {
  const Tensor table = random_table(7);
  Chain chain(table, {0, 1, 2});
  const auto found = search(chain, 3, {.max_new_tokens = 8, .start = kStart, .end = kEnd});
  for (std::int64_t s = 0; s < 3; ++s) {
    std::vector<std::int32_t> expected;
    for (std::int32_t word = kStart; expected.size() < 8 && (expected.empty() || word != kEnd);) {
      const float* row = table.data() + (s * kWords + word) * kWords;
      word = static_cast<std::int32_t>(std::max_element(row, row + kWords) - row);
      expected.push_back(word);
    }
    EXPECT_EQ(found[static_cast<std::size_t>(s)][0].ids, expected);
    EXPECT_EQ(found[static_cast<std::size_t>(s)][0].finished, expected.back() == kEnd);
  }
}

TEST(Search, ASentenceInABatchIsWhatItIsAlone) {
  const Tensor table = random_table(11);
  Chain all(table, {0, 1, 2});
  const SearchOptions options{
      .beam = 3, .nbest = 3, .max_new_tokens = 6, .start = kStart, .end = kEnd, .remember_attention = true};
  const auto together = search(all, 3, options);
  for (std::int64_t s = 0; s < 3; ++s) {
    Chain one(table, {s});
    const auto alone = search(one, 1, options);
    ASSERT_EQ(alone[0].size(), together[static_cast<std::size_t>(s)].size());
    for (std::size_t n = 0; n < alone[0].size(); ++n) {
      const Hypothesis& h = together[static_cast<std::size_t>(s)][n];
      EXPECT_EQ(alone[0][n].ids, h.ids);
      EXPECT_EQ(alone[0][n].score, h.score);
      ASSERT_EQ(h.attention.size(), h.ids.size());
      for (const std::vector<float>& row : h.attention) EXPECT_EQ(row[static_cast<std::size_t>(s)], 1.f);
    }
  }
  EXPECT_LE(all.most_rows, 9);
}

TEST(Search, HypothesesComeBestFirstAndDiffer) {
  Chain chain(random_table(3), {0});
  const auto found = search(chain, 1, {.beam = 5, .nbest = 5, .max_new_tokens = 6, .start = kStart, .end = kEnd})[0];
  ASSERT_EQ(found.size(), 5u);
  for (std::size_t n = 1; n < found.size(); ++n) {
    EXPECT_LE(found[n].score, found[n - 1].score);
    EXPECT_NE(found[n].ids, found[n - 1].ids);
  }
}

TEST(Search, ForbiddenWordsAreNeverSaid) {
  Chain chain(random_table(5), {0, 1, 2});
  for (const auto& sentence :
       search(chain, 3,
              {.beam = 4, .nbest = 4, .max_new_tokens = 6, .start = kStart, .end = kEnd, .never = {2, 4, -1, 99}}))
    for (const Hypothesis& h : sentence)
      for (const std::int32_t id : h.ids) EXPECT_TRUE(id != 2 && id != 4);
}

TEST(Search, NothingToTranslateIsFineAndAnEmptyBeamIsNot) {
  Chain none(random_table(5), {});
  EXPECT_TRUE(search(none, 0, {.end = kEnd}).empty());
  EXPECT_THROW(search(none, 0, {.beam = 0}), InputError);
  EXPECT_THROW(search(none, 0, {.beam = 2, .nbest = 3}), InputError);
}

}  // namespace
}  // namespace attend
