#include "attend/decode/logits.h"

#include <gtest/gtest.h>

#include <limits>

#include "attend/core/finite.h"

namespace attend {
namespace {

/// The scores of the tokens 0 … 4 after the rules are applied to the logits 1 … 5. `words` are the tokens so far; the
/// first `prompt` of them are the prompt.
std::vector<double> scores(const LogitsRules& rules, const std::vector<std::int32_t>& words, std::int64_t prompt) {
  constexpr std::int64_t V = 5;
  const Tensor logits = Tensor::empty({1, V});
  for (std::int64_t i = 0; i < V; ++i) logits.data()[i] = static_cast<float>(i + 1);
  const LogitsContext context{words, prompt, 100};
  std::vector<double> found(V, 0.0);  // 0 stands for a banned token
  const auto best = best_tokens(logits, std::span(&context, 1), rules, {}, V, ScoreKind::logits);
  for (const NextToken& token : best.front()) found[static_cast<std::size_t>(token.id)] = token.score;
  return found;
}

TEST(LogitsRules, PenaltiesCountTokensAfterThePrompt) {
  const std::vector<std::int32_t> words{0, 1, 2, 2, 2, 3};  // the first two are the prompt
  EXPECT_EQ(scores({.presence_penalty = 0.5}, words, 2), (std::vector<double>{1, 2, 2.5, 3.5, 5}));
  EXPECT_EQ(scores({.frequency_penalty = 0.25}, words, 2), (std::vector<double>{1, 2, 2.25, 3.75, 5}));
  EXPECT_EQ(scores({.presence_penalty = 0.5, .frequency_penalty = 0.25}, words, 2),
            (std::vector<double>{1, 2, 1.75, 3.25, 5}));
}

TEST(LogitsRules, BiasesAreAddedBeforePenalties) {
  const LogitsRules rules{.repetition_penalty = 2, .biases = {{0, 5}, {4, -7}, {3, 0.5}}};
  EXPECT_EQ(scores(rules, {0, 4}, 1), (std::vector<double>{3, 2, 3, 4.5, -4}));
}

TEST(LogitsRules, ASuppressedTokenIsBannedWhateverItsBias) {
  const LogitsRules rules{.frequency_penalty = -2, .suppressed = {2}, .biases = {{2, 100}}};
  EXPECT_EQ(scores(rules, {0, 2, 2}, 1), (std::vector<double>{1, 2, 0, 4, 5}));
}

TEST(LogitsRules, ANanIsAnErrorEvenForATokenThatIsBanned) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Tensor logits = Tensor::zeros({1, 3});
    logits.data()[1] = bad;
    const LogitsContext context{{}, 0, 100};
    EXPECT_THROW(best_tokens(logits, std::span(&context, 1), {.suppressed = {1}}, {}, 3, ScoreKind::logits),
                 ModelError);
  }
}

}  // namespace
}  // namespace attend
