#include "attend/core/random.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/core/tensor.h"
#include "attend/core/threads.h"

namespace attend {
namespace {

/// The known answers that Random123 publishes for philox4x32-10: counter (c0 … c3), key (k0, k1).
TEST(Philox, GivesThePublishedNumbers) {
  using Four = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0}, 0), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(philox({ones, ones}, ones), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x299f31d0a4093822, 0x0370734413198a2e}, 0x85a308d3243f6a88),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Generator, GivesEachStreamOnceAndCanBeRestored) {
  Generator a(7);
  a.next();
  const PhiloxKey second = a.next();
  EXPECT_EQ(second.stream, 1u);
  Generator b;
  b.restore(a.seed(), a.streams_used());
  EXPECT_EQ(a.next().stream, b.next().stream);
}

TEST(Random, UniformAndNormalHaveTheExpectedMoments) {
  Generator generator(3);
  Tensor x = Tensor::empty({1 << 18});
  auto moments = [&] {
    double mean = 0, square = 0;
    for (const float v : x.span()) mean += v, square += static_cast<double>(v) * v;
    mean /= static_cast<double>(x.numel());
    return std::pair(mean, std::sqrt(square / static_cast<double>(x.numel()) - mean * mean));
  };
  fill_uniform(x, -1.f, 3.f, generator);
  EXPECT_NEAR(moments().first, 1.0, 0.01);
  EXPECT_NEAR(moments().second, 4 / std::sqrt(12.), 0.01);
  for (const float v : x.span()) ASSERT_TRUE(v >= -1.f && v < 3.f);
  fill_normal(x, 2.f, 0.5f, generator);
  EXPECT_NEAR(moments().first, 2.0, 0.005);
  EXPECT_NEAR(moments().second, 0.5, 0.005);
}

TEST(Random, NumbersDependOnTheSeedAndNotOnTheNumberOfThreads) {
  const int before = threads();
  Tensor one = Tensor::empty({10007}), two = Tensor::empty({10007}), other = Tensor::empty({10007});
  Generator a(5), b(5), c(6);
  set_threads(1);
  fill_normal(one, 0.f, 1.f, a);
  set_threads(2);
  fill_normal(two, 0.f, 1.f, b);
  fill_normal(other, 0.f, 1.f, c);
  set_threads(before);
  EXPECT_EQ(one.to_vector(), two.to_vector());
  EXPECT_NE(one.to_vector(), other.to_vector());
}

}  // namespace
}  // namespace attend
