// Search with a model so small that all sequences can be tried: the next token depends only on the last one.
#include "attend/decode/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attend/core/error.h"
#include "attend/core/random.h"
#include "attend/ops/softmax.h"
#include "tests/decode/row_state.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

constexpr std::int64_t kWords = 6;
constexpr std::int32_t kStart = 0, kEnd = 1;

/// The logits after token w of sentence s are table[s, w]. The source of a sequence is the index of its sentence.
class Chain : public GenerativeModel {
 public:
  Chain(Tensor table, std::vector<std::int32_t> sentences)
      : table_(std::move(table)), sentences_(std::move(sentences)) {}

  std::int64_t vocabulary() const override { return kWords; }
  std::int64_t max_positions() const override { return 0; }
  SequenceBytes sequence_bytes() const override { return {}; }
  StartedGeneration start(std::span<const GenerationInput> inputs) const override {
    auto state = std::make_unique<test::RowState<std::int32_t>>();
    std::vector<std::int32_t> words;
    for (const GenerationInput& input : inputs)
      state->values.push_back(input.source.front()), words.push_back(input.prompt.back());
    Tensor logits = step(Tensor::ids(words, {std::ssize(words)}), *state);
    return {std::move(state), std::move(logits)};
  }
  Tensor step(const Tensor& words, GenerationState& state) const override {
    const std::vector<std::int32_t>& sentences = static_cast<test::RowState<std::int32_t>&>(state).values;
    const std::int64_t N = std::ssize(sentences);
    EXPECT_EQ(words.numel(), N);
    Tensor logits = Tensor::empty({N, kWords});
    for (std::int64_t i = 0; i < N; ++i) {
      const std::int64_t s = sentences[static_cast<std::size_t>(i)], w = words.data<std::int32_t>()[i];
      std::copy_n(table_.data() + (s * kWords + w) * kWords, kWords, logits.data() + i * kWords);
    }
    most_rows = std::max(most_rows, N);
    return logits;
  }
  mutable std::int64_t most_rows = 0;

  const std::vector<std::int32_t>& sentences() const { return sentences_; }

 private:
  Tensor table_;
  std::vector<std::int32_t> sentences_;
};

/// Searches all sentences of a chain.
std::vector<std::vector<Hypothesis>> search_chain(const Chain& chain, std::span<const SearchInput> inputs,
                                                  const SearchOptions& options) {
  std::vector<SearchInput> own(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < own.size(); ++i) own[i].source = {chain.sentences()[i]};
  return search(chain, std::move(own), options);
}
std::vector<std::vector<Hypothesis>> search_chain(const Chain& chain, std::int64_t sentences,
                                                  const SearchOptions& options) {
  return search_chain(chain, std::vector<SearchInput>(static_cast<std::size_t>(sentences)), options);
}

Tensor random_table(std::uint64_t seed) {
  Generator generator(seed);
  Tensor table = Tensor::empty({3, kWords, kWords});
  fill_normal(table, 0, 1.5f, generator);
  return table;
}

/// The best sequence of at most `most` tokens, found by trying all.
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
      const bool complete = w == kEnd || static_cast<std::int64_t>(ids.size()) == most;
      if (complete && score > best.score) best.ids = ids, best.score = score, best.log_probability = next;
      if (!complete) extend(w, next);
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
    const auto found = search_chain(chain, 3, {.beam = 2000, .max_new_tokens = 5, .start = kStart, .ends = {kEnd}});
    for (std::int64_t s = 0; s < 3; ++s) {
      const Hypothesis best = exhaustive(table, s, 5, 1.0);
      EXPECT_EQ(found[static_cast<std::size_t>(s)][0].ids, best.ids) << "seed " << seed << ", sentence " << s;
      EXPECT_NEAR(found[static_cast<std::size_t>(s)][0].score, best.score, 1e-5);
    }
  }
}

TEST(Search, GreedySearchTakesTheMostLikelyTokenAtEachStep) {
  const Tensor table = random_table(7);
  Chain chain(table, {0, 1, 2});
  const auto found = search_chain(chain, 3, {.max_new_tokens = 8, .start = kStart, .ends = {kEnd}});
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

TEST(Search, ASentenceHasTheSameResultAloneAndInABatch) {
  const Tensor table = random_table(11);
  Chain all(table, {0, 1, 2});
  const SearchOptions options{.beam = 3, .nbest = 3, .max_new_tokens = 6, .start = kStart, .ends = {kEnd}};
  const auto together = search_chain(all, 3, options);
  for (std::int32_t s = 0; s < 3; ++s) {
    Chain one(table, {s});
    const auto alone = search_chain(one, 1, options);
    ASSERT_EQ(alone[0].size(), together[static_cast<std::size_t>(s)].size());
    for (std::size_t n = 0; n < alone[0].size(); ++n) {
      const Hypothesis& h = together[static_cast<std::size_t>(s)][n];
      EXPECT_EQ(alone[0][n].ids, h.ids);
      EXPECT_EQ(alone[0][n].score, h.score);
    }
  }
  EXPECT_LE(all.most_rows, 9);
}

TEST(Search, HypothesesAreDifferentAndBestFirst) {
  Chain chain(random_table(3), {0});
  const auto found =
      search_chain(chain, 1, {.beam = 5, .nbest = 5, .max_new_tokens = 6, .start = kStart, .ends = {kEnd}})[0];
  ASSERT_EQ(found.size(), 5u);
  for (std::size_t n = 1; n < found.size(); ++n) {
    EXPECT_LE(found[n].score, found[n - 1].score);
    EXPECT_NE(found[n].ids, found[n - 1].ids);
  }
}

TEST(Search, BadWordsAndSuppressedTokensAreNeverGenerated) {
  Chain chain(random_table(5), {0, 1, 2});
  for (const auto& sentence : search_chain(chain, 3,
                                           {.beam = 4,
                                           .nbest = 4,
                                           .max_new_tokens = 6,
                                           .start = kStart,
                                           .ends = {kEnd},
                                           .rules = {.bad_words = {{2}, {4}}, .suppressed = {5}}}))
    for (const Hypothesis& h : sentence)
      for (const std::int32_t id : h.ids) EXPECT_TRUE(id != 2 && id != 4 && id != 5);
}

TEST(Search, IdsOutsideTheVocabularyAreErrors) {
  const auto with = [](const SearchOptions& options) {
    Chain chain(random_table(5), {0});
    search_chain(chain, 1, options);
  };
  const SearchOptions usual{.max_new_tokens = 6, .start = kStart, .ends = {kEnd}};
  SearchOptions options = usual;
  options.rules.bad_words = {{2, 99}};
  EXPECT_ERROR(with(options), "bad_words: there is no token 99");
  options = usual, options.rules.suppressed = {-1};
  EXPECT_ERROR(with(options), "the suppressed tokens: there is no token -1");
  options = usual, options.rules.forced_first = 99;
  EXPECT_ERROR(with(options), "the forced first token");
  options = usual, options.ends = {kEnd, 99};
  EXPECT_ERROR(with(options), "the end tokens");
  options = usual, options.rules.biases = {{2, 1.0}, {99, 1.0}};
  EXPECT_ERROR(with(options), "the biased tokens: there is no token 99");
  options = usual, options.length_penalty = std::nan("");
  EXPECT_ERROR(with(options), "length_penalty: got nan, expected a number");
  options = usual, options.rules.min_new_tokens = std::numeric_limits<std::int64_t>::max();
  EXPECT_ERROR(with(options), "min_new_tokens");
}

TEST(Search, LogitsThatAreNotFiniteAreAnError) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::nanf(""), kInfinity, -kInfinity})
    for (const std::int64_t beam : {1, 3}) {
      Tensor table = random_table(5);
      table.fill(bad);
      Chain chain(table, {0});
      EXPECT_ERROR(search_chain(chain, 1, {.beam = beam, .max_new_tokens = 6, .start = kStart, .ends = {kEnd}}),
                   "numbers that are not finite");
    }
}

TEST(Search, AnEndForcedByTheLengthIsNotFinished) {
  for (const std::int64_t beam : {1, 3}) {
    Chain chain(random_table(5), {0});
    const auto found = search_chain(chain, 1,
                                    {.beam = beam,
                                     .max_new_tokens = 3,
                                     .start = kStart,
                                     .ends = {kEnd},
                                     .rules = {.min_new_tokens = 2, .forced_last = {kEnd}}});
    ASSERT_EQ(found[0][0].ids.size(), 3u);
    EXPECT_EQ(found[0][0].ids.back(), kEnd);
    EXPECT_FALSE(found[0][0].finished);
  }
}

TEST(Search, SamplesDependOnSeedStreamAndIndex) {
  const Tensor table = random_table(13);
  SearchOptions options{.nbest = 4, .sample = true, .seed = 9, .max_new_tokens = 8, .start = kStart, .ends = {kEnd}};
  const std::vector<SearchInput> inputs{{.stream = 7}, {.stream = 8}, {.stream = 7}};
  const auto samples = [&](std::vector<std::int32_t> sentences, std::span<const SearchInput> of) {
    Chain chain(table, std::move(sentences));
    return search_chain(chain, of, options);
  };
  const auto found = samples({0, 0, 0}, inputs);
  const auto ids = [&](std::size_t sentence, std::size_t n) { return found[sentence][n].ids; };
  ASSERT_EQ(found[0].size(), 4u);
  EXPECT_EQ(ids(0, 0), ids(2, 0));
  EXPECT_TRUE(ids(0, 0) != ids(1, 0) || ids(0, 1) != ids(1, 1));
  EXPECT_TRUE(ids(0, 0) != ids(0, 1) || ids(0, 1) != ids(0, 2));
  options.nbest = 2;  // the first samples stay the same
  EXPECT_EQ(samples({0}, std::span(inputs).first(1))[0][1].ids, ids(0, 1));
  options.seed = 10;
  const auto other = samples({0}, std::span(inputs).first(1));
  EXPECT_TRUE(other[0][0].ids != ids(0, 0) || other[0][1].ids != ids(0, 1));
}

TEST(Search, EachSentenceMayHaveItsOwnPrefixAndLength) {
  const Tensor table = random_table(17);
  const SearchOptions options{.beam = 3, .max_new_tokens = 7, .start = kStart, .ends = {kEnd}};
  const std::vector<SearchInput> inputs{{.prefix = {2, 3}}, {}, {.prefix = {5}, .max_new_tokens = 2}};
  Chain all(table, {0, 1, 2});
  const auto together = search_chain(all, inputs, options);
  for (std::size_t s = 0; s < inputs.size(); ++s) {
    Chain one(table, {static_cast<std::int32_t>(s)});
    const auto alone = search_chain(one, std::span(&inputs[s], 1), options);
    EXPECT_EQ(alone[0][0].ids, together[s][0].ids);
    EXPECT_TRUE(std::equal(inputs[s].prefix.begin(), inputs[s].prefix.end(), together[s][0].ids.begin()));
  }
  EXPECT_LE(together[2][0].ids.size(), 3u);
}

TEST(Search, ASentenceStopsIfTheRulesAllowNoToken) {
  std::vector<std::vector<std::int32_t>> all;
  for (std::int32_t w = 0; w < kWords; ++w)
    if (w != kEnd) all.push_back({w});
  for (const std::int64_t beam : {1, 3}) {
    Chain chain(random_table(5), {0});
    const auto found = search_chain(
        chain, 1, {.beam = beam, .start = kStart, .ends = {kEnd}, .rules = {.bad_words = all, .min_new_tokens = 2}});
    ASSERT_EQ(found[0].size(), 1u);
    EXPECT_TRUE(found[0][0].ids.empty());
    EXPECT_FALSE(found[0][0].finished);
  }
}

TEST(Search, NoInputsAreFineAndInvalidOptionsAreErrors) {
  Chain none(random_table(5), {});
  EXPECT_TRUE(search_chain(none, 0, {.ends = {kEnd}}).empty());
  EXPECT_THROW(search_chain(none, 0, {.beam = 0}), InputError);
  EXPECT_THROW(search_chain(none, 0, {.beam = 2, .nbest = 3}), InputError);
  EXPECT_THROW(search_chain(none, 0, {.beam = 2, .sample = true}), InputError);
  EXPECT_THROW(search_chain(none, 0, {.rules = {.repetition_penalty = 0}}), InputError);
  Chain one(random_table(5), {0});
  EXPECT_THROW(search_chain(one, 1, {.max_length = 1}), InputError) << "max_length includes the start token";
}

}  // namespace
}  // namespace attend
