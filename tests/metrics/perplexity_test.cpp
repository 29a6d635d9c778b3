#include "attend/metrics/perplexity.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(Perplexity, OfAUniformDistributionIsTheNumberOfTokens) {
  const Likelihood likelihood{.logprob = -10 * std::log(50.), .tokens = 10, .bytes = 40};
  EXPECT_NEAR(likelihood.perplexity(), 50, 1e-9);
  EXPECT_NEAR(likelihood.bits_per_byte(), 10 * std::log2(50.) / 40, 1e-12);
}

TEST(Perplexity, LikelihoodsCanBeAdded) {
  Likelihood sum{.logprob = -1, .tokens = 2, .bytes = 3};
  sum += {.logprob = -3, .tokens = 2, .bytes = 5};
  EXPECT_NEAR(sum.perplexity(), std::exp(1.), 1e-12);
  EXPECT_EQ(sum.bytes, 8);
}

TEST(Perplexity, OfNoTokensIsOneWithZeroBits) {
  EXPECT_EQ(Likelihood{}.perplexity(), 1);
  EXPECT_EQ(Likelihood{}.bits_per_byte(), 0);
}

}  // namespace
}  // namespace attend
