#include "attend/metrics/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/core/random.h"
#include "attend/metrics/bleu.h"
#include "tests/support/errors.h"
#include "tests/support/metrics_golden.h"

namespace attend {
namespace {

/// Uniform random numbers; their mean is the score.
std::vector<double> uniform_numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(uniform_from(philox({seed, 0}, i)[0]));
  return numbers;
}
auto mean_score(const std::vector<double>& numbers) {
  return [&numbers](std::span<const std::uint32_t> sample) {
    return sum_of_sample(std::span(numbers), sample) / static_cast<double>(sample.size());
  };
}

TEST(Bootstrap, FindsTheStandardErrorOfAMean) {
  const std::vector<double> numbers = uniform_numbers(400, 1);
  const Confidence confidence = bootstrap(400, mean_score(numbers));
  const double error = 1.96 * std::sqrt(1. / 12 / 400);
  EXPECT_NEAR(confidence.half_width, error, 0.1 * error);
  EXPECT_NEAR(confidence.mean, 0.5, 2 * error);
}

TEST(Bootstrap, TheSameSeedGivesTheSameIntervalForAnyNumberOfThreads) {
  const std::vector<double> numbers = uniform_numbers(101, 2);
  const int before = threads();
  set_threads(1);
  const Confidence one = bootstrap(101, mean_score(numbers));
  set_threads(3);
  const Confidence three = bootstrap(101, mean_score(numbers));
  set_threads(before);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.half_width, three.half_width);
  EXPECT_NE(one.mean, bootstrap(101, mean_score(numbers), {.seed = 1}).mean);
}

TEST(Bootstrap, TheIntervalContainsTheBleuScore) {
  const auto [hypotheses, references] = test::corpus_of(test::scored_sentences());
  const std::vector<BleuStatistics> sentences = bleu_statistics(hypotheses, references);
  const Confidence confidence =
      bootstrap(static_cast<std::int64_t>(sentences.size()), [&](std::span<const std::uint32_t> sample) {
        return bleu_score(sum_of_sample(std::span(sentences), sample)).score;
      });
  EXPECT_NEAR(confidence.mean, corpus_bleu(hypotheses, references).score, confidence.half_width);
  EXPECT_GT(confidence.half_width, 0.5);
  EXPECT_LT(confidence.half_width, 5);
}

TEST(Bootstrap, ABetterSystemIsSignificantAndAnEqualOneIsNot) {
  const std::vector<double> numbers = uniform_numbers(200, 3);
  std::vector<double> better = numbers;
  for (double& number : better) number += 0.2;
  EXPECT_LT(paired_bootstrap(200, mean_score(numbers), mean_score(better)).p_value, 0.05);
  EXPECT_EQ(paired_bootstrap(200, mean_score(numbers), mean_score(numbers)).p_value, 1);
  const std::vector<double> other = uniform_numbers(200, 4);
  EXPECT_GT(paired_bootstrap(200, mean_score(numbers), mean_score(other)).p_value, 0.05);
}

TEST(Bootstrap, NoSentencesOrNoResamplesAreAnError) {
  EXPECT_ERROR(bootstrap(0, [](auto) { return 0.; }), "got 0 sentences");
  EXPECT_ERROR(bootstrap(1, [](auto) { return 0.; }, {.resamples = 0}), "0 resamples");
}

}  // namespace
}  // namespace attend
