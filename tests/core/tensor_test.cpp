#include "attend/core/tensor.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace attend {
namespace {

TEST(Tensor, ReshapeSharesMemoryAndInfersASize) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = x.reshape({-1, 2});
  EXPECT_EQ(y.shape(), Shape({3, 2}));
  EXPECT_TRUE(y.shares_memory_with(x));
}

TEST(Tensor, ReshapingToADifferentNumberOfElementsIsAnError) {
  EXPECT_ERROR(Tensor::zeros({2, 3}).reshape({4, -1}), "[reshape] the number of elements must not change: got [2, 3]");
  EXPECT_ERROR(Tensor::from({1, 2, 3}, {2, 2}), "got 3 values, expected 4 for [2, 2]");
}

TEST(Tensor, CopiesOwnTheirMemoryAndHandlesShareIt) {
  const Tensor x = Tensor::full({100000}, 1.f), handle = x, copy = x.copy();
  handle.fill(2.f);
  EXPECT_EQ(x.data()[99999], 2.f);
  EXPECT_EQ(copy.data()[99999], 1.f);
  EXPECT_TRUE(copy.sole_owner());
  EXPECT_FALSE(x.sole_owner());
}

TEST(Tensor, RowsAreAViewOfTheFirstDimension) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2}), rows = x.view_rows(1, 3);
  EXPECT_EQ(rows.to_vector(), (std::vector<float>{3, 4, 5, 6}));
  EXPECT_TRUE(rows.shares_memory_with(x));
  EXPECT_ERROR(x.view_rows(2, 4), "no such rows: got [2, 4) of shape [3, 2]");
}

TEST(Tensor, EmptyTensorsAreDefined) {
  const Tensor x = Tensor::zeros({0, 3});
  EXPECT_TRUE(x.defined());
  EXPECT_EQ(x.numel(), 0);
  EXPECT_TRUE(x.copy().to_vector().empty());
  EXPECT_FALSE(Tensor().defined());
}

TEST(Tensor, AnUndefinedTensorHasNoElementsToRead) {
  EXPECT_ERROR(Tensor().data(), "[tensor] the tensor is undefined");
  EXPECT_ERROR(Tensor().item(), "undefined");
  EXPECT_FALSE(Tensor().copy().defined());
}

TEST(Tensor, ReadingAsTheWrongTypeThrows) { EXPECT_THROW(Tensor::zeros({2}, DType::i32).data<float>(), Error); }

}  // namespace
}  // namespace attend
