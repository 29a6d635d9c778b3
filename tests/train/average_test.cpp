#include "attend/train/average.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(ParameterAverage, FollowsTheParametersAndIsSwappedInForAScope) {
  const Tensor weight = Tensor::from({1, 10}, {2});
  ParameterAverage average({{"weight", weight}}, 0.5);
  for (std::int64_t step = 1; step <= 30; ++step) average.update(step);
  weight.data()[0] = 3, weight.data()[1] = 20;
  average.update(31);
  EXPECT_EQ(average.averages().front().name, "weight");
  {
    const ScopedParameters averaged(average.parameters(), average.averages());
    EXPECT_FLOAT_EQ(weight.data()[0], 2);
    EXPECT_FLOAT_EQ(weight.data()[1], 15);
  }
  EXPECT_EQ(weight.data()[0], 3);
  EXPECT_EQ(weight.data()[1], 20);
}

TEST(ParameterAverage, ATensorWithTwoNamesIsAveragedOnce) {
  const Tensor weight = Tensor::from({1}, {1});
  ParameterAverage average({{"input", weight}, {"output", weight}}, 0.5);
  weight.data()[0] = 3;
  average.update(100);
  {
    const ScopedParameters averaged(average.parameters(), average.averages());
    EXPECT_FLOAT_EQ(weight.data()[0], 2);
  }
  EXPECT_EQ(weight.data()[0], 3);
}

TEST(ParameterAverage, ForgetsTheInitialParametersQuickly) {
  const Tensor weight = Tensor::from({100}, {1});
  ParameterAverage average({{"weight", weight}}, 0.999);
  weight.data()[0] = 0;
  for (std::int64_t step = 1; step <= 100; ++step) average.update(step);
  EXPECT_LT(average.averages().front().tensor.data()[0], 0.01f);
}

}  // namespace
}  // namespace attend
