#include "attend/ops/dropout.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;

TEST(Dropout, ReturnsItsInputOutsideTrainingOrIfPIsZero) {
  const Tensor x = test::normal({7});
  const std::uint64_t used = default_generator().streams_used();
  EXPECT_TRUE(dropout(x, 0.5f).shares_memory_with(x));
  const Training scope;
  EXPECT_TRUE(dropout(x, 0.f).shares_memory_with(x));
  {
    const Training off(false);
    EXPECT_FALSE(training());
    EXPECT_TRUE(dropout(x, 0.5f).shares_memory_with(x));
  }
  EXPECT_TRUE(training());
  EXPECT_EQ(default_generator().streams_used(), used);
}

TEST(Dropout, DropsTheGivenFractionAndKeepsTheMean) {
  const Training scope;
  const Tensor x = Tensor::full({100003}, 1.f);
  const Tensor y = dropout(x, 0.1f, {1, 2});
  double sum = 0;
  int dropped = 0;
  for (const float value : y.span()) {
    sum += value;
    dropped += value == 0.f;
    EXPECT_TRUE(value == 0.f || std::abs(value - 1 / 0.9f) < 1e-4f);
  }
  EXPECT_NEAR(dropped / 100003., 0.1, 0.005);
  EXPECT_NEAR(sum / 100003., 1., 0.005);
  EXPECT_EQ(dropout(x, 1.f, {1, 2}).to_vector(), std::vector<float>(100003, 0.f));
}

TEST(Dropout, AStreamGivesTheSameMaskForAnyNumberOfThreads) {
  const Training scope;
  const Tensor x = test::normal({70001});
  set_threads(1);
  const auto one = dropout(x, 0.3f, {5, 6}).to_vector();
  set_threads(2);
  EXPECT_EQ(dropout(x, 0.3f, {5, 6}).to_vector(), one);
  EXPECT_NE(dropout(x, 0.3f, {5, 7}).to_vector(), one);
}

TEST(Dropout, GradientsMatchFiniteDifferences) {
  const Training scope;
  for (const Shape& shape : {Shape{1}, Shape{3, 67}, Shape{0}})
    test::expect_gradients([](const Tensors& in) { return dropout(in[0], 0.4f, {3, 4}); }, {test::normal(shape)});
}

TEST(Dropout, ThrowsIfPIsOutOfRange) { EXPECT_ERROR(dropout(Tensor::zeros({1}), 1.5f), "[dropout]"); }

}  // namespace
}  // namespace attend
