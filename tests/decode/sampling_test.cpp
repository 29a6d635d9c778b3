#include "attend/decode/sampling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/core/error.h"
#include "attend/core/random.h"
#include "attend/decode/sequence_search.h"

namespace attend {
namespace {

std::vector<NextToken> words(const std::vector<double>& probabilities) {
  std::vector<NextToken> all;
  for (std::size_t i = 0; i < probabilities.size(); ++i)
    all.push_back({static_cast<std::int32_t>(i), std::log(probabilities[i]), std::log(probabilities[i])});
  return all;
}

TEST(Sampling, FiltersAreAppliedOneAfterTheOther) {
  auto some = words({0.5, 0.25, 0.125, 0.125});
  const std::vector<double> all = sampling_probabilities(some, {});
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(all[i], std::exp(some[i].log_probability), 1e-12);
  EXPECT_EQ(sampling_probabilities(some, {.top_k = 2}).size(), 2u);
  EXPECT_NEAR(sampling_probabilities(some, {})[0], 2.0 / 3, 1e-12);
  some = words({0.5, 0.25, 0.125, 0.125});
  EXPECT_EQ(sampling_probabilities(some, {.top_k = 3, .top_p = 0.8}).size(),
            2u);  // of three tokens, 4/7 + 2/7 reach 0.8
  some = words({0.5, 0.25, 0.125, 0.125});
  EXPECT_EQ(sampling_probabilities(some, {.min_p = 0.3}).size(), 2u);
  some = words({0.5, 0.25, 0.125, 0.125});
  EXPECT_NEAR(sampling_probabilities(some, {.temperature = 0.5})[0], 0.25 / (0.25 + 0.0625 + 2 * 0.015625), 1e-12);
  some = words({0.5, 0.5});
  EXPECT_EQ(sampling_probabilities(some, {.top_p = 1e-9}).size(), 1u) << "the most likely token always stays";
}

TEST(Sampling, TokensAreSampledWithTheirProbabilities) {
  const std::vector<double> odds = {0.6, 0.3, 0.1};
  std::vector<int> counts(3);
  for (std::uint64_t i = 0; i < 10000; ++i) ++counts[sample_index(odds, philox({1, 2}, i)[0] * 0x1p-32)];
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(counts[i] / 10000.0, odds[i], 0.02);
  EXPECT_EQ(sample_index(odds, 0), 0u);
  EXPECT_EQ(sample_index({0.5, 0.4999999}, 0.99999999), 1u);
}

TEST(Sampling, OptionsOutOfRangeAreErrors) {
  const auto check = [](const SamplingOptions& sampling) {
    attend::check(SearchOptions{.sample = true, .sampling = sampling});
  };
  EXPECT_THROW(check({.temperature = 0}), InputError);
  EXPECT_THROW(check({.top_k = -1}), InputError);
  EXPECT_THROW(check({.top_p = -0.1}), InputError);
  EXPECT_THROW(check({.min_p = 1.5}), InputError);
  check({});
}

}  // namespace
}  // namespace attend
