#include "attend/core/tensor.h"

#include <gtest/gtest.h>

#include "attend/core/error.h"

namespace attend {
namespace {

TEST(Tensor, ReshapeSharesMemoryAndFillsTheOpenSize) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = x.reshape({-1, 2});
  EXPECT_EQ(y.shape(), Shape({3, 2}));
  EXPECT_TRUE(y.shares_memory_with(x));
}

TEST(Tensor, ReadingAsTheWrongTypeThrows) { EXPECT_THROW(Tensor::zeros({2}, DType::i32).data<float>(), Error); }

}  // namespace
}  // namespace attend
