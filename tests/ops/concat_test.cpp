#include "attend/ops/concat.h"

#include <gtest/gtest.h>

#include "attend/ops/arithmetic.h"
#include "attend/ops/reduce.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

TEST(Concat, WrongShapesAreReported) {
  EXPECT_ERROR(concat(std::vector<Tensor>{}, 0), "[concat] there is nothing to concatenate");
  EXPECT_ERROR(concat({Tensor::zeros({2, 3}), Tensor::zeros({2, 4})}, 0),
               "[concat] the parts must have equal sizes except in dimension 0: got [2, 3] and [2, 4]");
  EXPECT_ERROR(concat({Tensor::zeros({2}), Tensor::zeros({2, 1})}, 0), "got [2] and [2, 1]");
  EXPECT_ERROR(concat({Tensor::zeros({2}), Tensor::zeros({2}, DType::i32)}, 0), "[concat] a part has the wrong dtype");
  EXPECT_ERROR(concat({Tensor::zeros({2})}, 1), "[concat] there is no dimension 1");
}

TEST(Split, WrongSizesAreReported) {
  const Tensor x = Tensor::zeros({2, 5});
  EXPECT_ERROR(split(x, {2, 2}, 1), "[split] the sizes do not add up: got 4 for dimension 1 of x [2, 5]");
  EXPECT_ERROR(split(x, {6, -1}, 1), "[split] a size cannot be negative: got -1");
  EXPECT_ERROR(split(x, 2, 1), "[split] dimension 1 of x [2, 5] cannot be cut into 2 equal parts");
  EXPECT_ERROR(slice(x, 1, 2, 6), "[slice] no such range: got [2, 6) of dimension 1 of x [2, 5]");
  EXPECT_ERROR(slice(x, 1, 3, 2), "[slice] no such range");
}

TEST(Split, IsReversedByConcatForEveryDimension) {
  const Tensor x = test::normal({4, 6, 2, 8});
  for (int dim = 0; dim < 4; ++dim) EXPECT_EQ(concat(split(x, 2, dim), dim).to_vector(), x.to_vector());
}

TEST(Split, AnUnusedPartHasZeroGradient) {
  Tensor x = test::normal({2, 3});
  require_grad(x);
  backward(sum(split(x, {1, 2}, 1)[1]));
  EXPECT_EQ(grad(x).to_vector(), (std::vector<float>{0, 1, 1, 0, 1, 1}));
}

TEST(Split, GradientsAreAddedToThoseOfOtherUses) {
  test::expect_gradients(
      [](const test::Tensors& x) {
        const std::vector<Tensor> parts = split(x[0], {1, 2}, 1);
        return concat({parts[1] * parts[1], x[0], slice(x[0], 1, 0, 2), parts[0]}, 1) * 2.f;
      },
      {test::normal({3, 3})});
}

TEST(Concat, WorksForIdsWithoutGradients) {
  const Tensor ids = concat({Tensor::ids({1, 2}, {1, 2}), Tensor::ids({3}, {1, 1})}, 1);
  EXPECT_EQ(ids.dtype(), DType::i32);
  EXPECT_EQ(ids.data<std::int32_t>()[2], 3);
}

}  // namespace
}  // namespace attend
