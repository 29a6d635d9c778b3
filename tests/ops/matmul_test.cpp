#include "attend/ops/matmul.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::expect_gradients;
using test::normal;
using test::Tensors;

TEST(Matmul, GradientsMatchForEveryTransposeAndBatch) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const int batching : {0, 1, 2, 3}) {  // two matrices, batches, batches of batches, one b for all
        SCOPED_TRACE(testing::Message() << "transposes " << ta << tb << ", batching " << batching);
        const std::int64_t m = 3, n = 5, k = 7;
        const Shape a2 = ta ? Shape{k, m} : Shape{m, k}, b2 = tb ? Shape{n, k} : Shape{k, n};
        const auto batched = [](const Shape& s) { return s.inserted(0, 2); };
        const Shape a = batching == 0 ? a2 : batching == 2 ? batched(batched(a2)) : batched(a2);
        const Shape b = batching == 0 || batching == 3 ? b2 : batching == 2 ? batched(batched(b2)) : batched(b2);
        expect_gradients(
            [=](const Tensors& x) {
              return matmul(x[0], x[1], {ta, tb});
            },
            {normal(a, 1, 0.5f), normal(b, 2, 0.5f)});
      }
}

TEST(Matmul, AnEmptyBatchGivesABroadcastMatrixAZeroGradient) {
  for (const bool ta : {false, true}) {
    const Tensor a = Tensor::zeros({0, 3, 3});
    Tensor b = Tensor::zeros({3, 5});
    require_grad(b);
    backward(matmul(a, b, {.transpose_a = ta}), Tensor::zeros({0, 3, 5}));
    EXPECT_EQ(grad(b).to_vector(), std::vector<float>(15, 0.f));
  }
}

TEST(Matmul, AMatrixTimesItselfHasBothGradients) {
  expect_gradients([](const Tensors& x) { return matmul(x[0], x[0], {.transpose_b = true}); }, {normal({3, 4})});
}

TEST(Matmul, WrongShapesAreReported) {
  EXPECT_ERROR(matmul(Tensor::zeros({2, 3}), Tensor::zeros({4, 5})),
               "[matmul] the matrices do not fit: got a [2, 3] and b [4, 5]");
  EXPECT_ERROR(matmul(Tensor::zeros({2, 2, 3}), Tensor::zeros({4, 3, 5})), "[2, 2, 3]");
  EXPECT_ERROR(matmul(Tensor::zeros({3}), Tensor::zeros({3, 5})), "[3]");
}

}  // namespace
}  // namespace attend
