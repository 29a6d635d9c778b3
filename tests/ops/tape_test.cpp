#include "attend/ops/tape.h"

#include <gtest/gtest.h>

#include "attend/core/error.h"
#include "attend/ops/matmul.h"
#include "tests/support/golden.h"

namespace attend {
namespace {

/// y = 2 x. `calls` counts the calls of its backward function.
Tensor twice(const Tensor& x, int* calls = nullptr) {
  Tensor y = Tensor::like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) y.data()[i] = 2 * x.data()[i];
  return record("twice", y, {x}, [calls](const Tensor& dy, Grads& grads) {
    if (calls) ++*calls;
    grads.add(0, twice(dy));
  });
}

/// y = a + b. The gradient of both inputs is dy itself.
Tensor plus(const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::like(a);
  for (std::int64_t i = 0; i < a.numel(); ++i) y.data()[i] = a.data()[i] + b.data()[i];
  return record("plus", y, {a, b}, [](const Tensor& dy, Grads& grads) { grads.add(0, dy), grads.add(1, dy); });
}

Tensor leaf(std::initializer_list<float> values) {
  Tensor x = Tensor::from(values, {static_cast<std::int64_t>(values.size())});
  require_grad(x);
  return x;
}

TEST(Tape, GradientsAccumulateOverPassesUntilZeroed) {
  const Tensor x = leaf({3.f});
  backward(twice(x));
  backward(twice(twice(x)));
  EXPECT_EQ(grad(x).item(), 6.f);
  zero_grad(x);
  EXPECT_FALSE(grad(x).defined());
}

TEST(Tape, AResultUsedSeveralTimesIsVisitedOnceWithTheSumOfItsGradients) {
  const Tensor x = leaf({1.f});
  int calls = 0;
  const Tensor y = twice(x, &calls);
  backward(plus(plus(y, twice(y)), y));
  EXPECT_EQ(grad(x).item(), 8.f);
  EXPECT_EQ(calls, 1);
}

TEST(Tape, AGradientSharedByTwoInputsIsNotModified) {
  const Tensor a = leaf({1.f}), b = leaf({1.f});
  const Tensor sum = plus(a, b);  // both share dy
  backward(plus(sum, twice(a)));  // adds to the gradient of a, not of b
  EXPECT_EQ(grad(a).item(), 3.f);
  EXPECT_EQ(grad(b).item(), 1.f);
}

TEST(Tape, ATensorUsedAsSeveralInputsGetsAllGradientsInAnyOrder) {
  const Tensor x = leaf({1.f});
  const Tensor y = record("thrice", Tensor::full({1}, 1.f), {x, x, x}, [](const Tensor&, Grads& grads) {
    const Grads::Target first = grads.target(0), second = grads.target(1);
    grads.add(2, Tensor::full({1}, 4.f));
    for (const auto& [target, value] : {std::pair(second, 2.f), {first, 1.f}})
      target.tensor.data()[0] = value + (target.accumulate ? target.tensor.item() : 0.f);
  });
  backward(plus(x, y));
  EXPECT_EQ(grad(x).item(), 8.f);
}

TEST(Tape, GradientsOfLeavesDoNotShareMemory) {
  const Tensor a = leaf({1.f}), b = leaf({1.f}), seed = Tensor::from({1.f}, {1});
  backward(plus(a, b), seed);  // the seed is the gradient of both
  grad(a).fill(5.f);
  EXPECT_EQ(grad(b).item(), 1.f);
  EXPECT_EQ(seed.item(), 1.f);
}

TEST(Tape, AResultCanBecomeALeafAfterThePass) {
  const Tensor x = leaf({1.f});
  Tensor y = twice(x);
  backward(y);
  require_grad(y);
  backward(twice(y));
  EXPECT_EQ(grad(y).item(), 2.f);
}

/// y = x wᵀ, with Grads::product for the gradient of the weight.
Tensor through(const Tensor& x, const Tensor& w) {
  return record("through", matmul(x.detach(), w.detach(), {.transpose_b = true}), {w},
                [x = x.detach()](const Tensor& dy, Grads& grads) { grads.product(0, dy, x); });
}

TEST(Tape, ProductsOfSeveralStepsAreAddedToOtherGradientsOfTheWeight) {
  Tensor w = Tensor::from({1, 2, 3, 4}, {2, 2});
  require_grad(w);
  const Tensor x = Tensor::from({1, 2, 3, 4}, {2, 2}), z = Tensor::from({1, 0, -1, 2}, {2, 2});
  const Tensor seed = Tensor::from({1, 2, 3, 4}, {2, 2});  // seedᵀ x = 10 14 14 20, seedᵀ z = -2 6 -2 8
  backward(plus(through(x, w), plus(through(z, w), w)), seed);
  EXPECT_TRUE(test::close(grad(w), Tensor::from({9, 22, 15, 32}, {2, 2}), {0.f, 0.f}));
  backward(plus(through(x, twice(w)), through(z, w)),
           seed);  // once for the result of an op, once for a leaf that has a gradient
  EXPECT_TRUE(test::close(grad(w), Tensor::from({27, 56, 41, 80}, {2, 2}), {0.f, 0.f}));
}

TEST(Tape, AnExceptionDiscardsWaitingProducts) {
  Tensor w = Tensor::from({1, 2, 3, 4}, {2, 2});
  require_grad(w);
  const Tensor x = Tensor::from({1, 2, 3, 4}, {2, 2});
  const auto broken = [](const Tensor& y) {
    return record("broken", y, {y}, [](const Tensor&, Grads&) { throw std::runtime_error("enough"); });
  };
  const Tensor early = plus(broken(twice(w)), through(x, w));
  EXPECT_THROW(backward(plus(plus(early, through(x, w)), through(x, w)), x), std::runtime_error);
  zero_grad(w);
  backward(through(x, w), x);
  EXPECT_TRUE(test::close(grad(w), Tensor::from({10, 14, 14, 20}, {2, 2}), {0.f, 0.f}));
}

TEST(Tape, GradientsPassThroughReshape) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6});
  const Tensor y = twice(x.reshape({2, 3}));
  backward(y, Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}));
  EXPECT_EQ(grad(x).shape(), Shape({6}));
  EXPECT_EQ(grad(x).to_vector(), (std::vector<float>{2, 4, 6, 8, 10, 12}));
}

TEST(Tape, NothingIsRecordedUnderNoGradOrWithoutLeaves) {
  const Tensor x = leaf({1.f});
  {
    const NoGrad no_grad;
    EXPECT_FALSE(requires_grad(twice(x)));
  }
  EXPECT_TRUE(requires_grad(twice(x)));
  EXPECT_FALSE(requires_grad(twice(Tensor::scalar(1.f))));
  EXPECT_THROW(backward(Tensor::scalar(1.f)), Error);
}

TEST(Tape, ASecondBackwardPassThrows) {
  const Tensor x = leaf({1.f});
  const Tensor y = twice(x);
  backward(y);
  EXPECT_THROW(backward(y), Error);
}

TEST(Tape, ALossOfManyElementsNeedsASeedOfItsShape) {
  const Tensor x = leaf({1, 2});
  EXPECT_THROW(backward(twice(x)), Error);
  EXPECT_THROW(backward(twice(x), Tensor::zeros({3})), Error);
  EXPECT_THROW(backward(twice(x), Tensor::zeros({2}, DType::i32)), Error);
}

TEST(Tape, MemoryIsFreedDuringTheBackwardPass) {
  Tensor x = Tensor::zeros({1 << 16});
  require_grad(x);
  const std::size_t before = memory_use().current, one = x.bytes();
  Tensor y = twice(x);
  for (int i = 0; i < 30; ++i) y = twice(y);  // the backward pass needs no values, so only the last result is alive
  EXPECT_LE(memory_use().current, before + 2 * one);
  reset_peak_memory();
  backward(y, y.detach());
  EXPECT_LE(memory_use().peak, before + 5 * one);
}

TEST(Tape, ALongChainIsFreedWithoutRecursion) {
  const Tensor x = leaf({1.f});
  Tensor y = twice(x);
  for (int i = 0; i < 100000; ++i) y = plus(y, x);
  y = Tensor();
  Tensor z = twice(x);
  for (int i = 0; i < 100000; ++i) z = plus(z, x);
  backward(z);
  EXPECT_EQ(grad(x).item(), 100002.f);
}

}  // namespace
}  // namespace attend
