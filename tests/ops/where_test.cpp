#include "attend/ops/where.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"

namespace attend {
namespace {

TEST(Where, WrongInputIsReported) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_ERROR(masked_fill(x, Tensor::zeros({2, 3}), 0.f), "[masked_fill] the mask has the wrong dtype: got float32");
  EXPECT_ERROR(masked_fill(x, Tensor::zeros({2}, DType::i8), 0.f),
               "[masked_fill] the shapes cannot be broadcast: got [2, 3] and [2]");
  EXPECT_ERROR(masked_fill(x, Tensor::zeros({4, 2, 3}, DType::i8), 0.f),
               "[masked_fill] the mask does not broadcast to the values");
  EXPECT_ERROR(where(Tensor::zeros({3}, DType::i8), x, Tensor::zeros({3})),
               "[where] a and b must have the same shape: got a [2, 3] and b [3]");
}

TEST(Where, ElementsThatAreNotSelectedMayBeNaN) {
  const std::int8_t flags[] = {1, 0};
  const Tensor mask = Tensor::from(std::span<const std::int8_t>(flags), {2});
  EXPECT_EQ(masked_fill(Tensor::from({NAN, 2.f}, {2}), mask, 1.f).to_vector(), (std::vector<float>{1.f, 2.f}));
}

}  // namespace
}  // namespace attend
