#include "attend/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/core/memory.h"
#include "attend/core/threads.h"
#include "attend/ops/softmax.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;

/// A copy with gradient history and no other owner, like the output of a layer.
Tensor produced(const Tensor& x) {
  return record("copy", x.copy(), {x}, [](const Tensor& dy, Grads& grads) { grads.add(0, dy); });
}

TEST(CrossEntropy, IsTheNegativeLogSoftmaxOfTheTarget) {
  const Tensor logits = test::normal({5, 4099}, 1, 4.f), targets = test::random_ids({5}, 4099);
  const Tensor log_p = log_softmax(logits);
  const Tensor losses = cross_entropy(logits, targets, {.reduction = Reduction::none});
  double sum = 0;
  for (std::int64_t i = 0; i < 5; ++i) {
    const float expected = -log_p.data()[i * 4099 + targets.data<std::int32_t>()[i]];
    EXPECT_NEAR(losses.data()[i], expected, 1e-5);
    sum += losses.data()[i];
  }
  EXPECT_NEAR(cross_entropy(logits, targets).item(), sum / 5, 1e-5);
  EXPECT_NEAR(cross_entropy(logits, targets, {.reduction = Reduction::sum}).item(), sum, 1e-5);
}

TEST(CrossEntropy, GradientsMatchFiniteDifferencesForEveryOption) {
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 7}, Shape{2, 2, 67}, Shape{0, 5}})
    for (const float smoothing : {0.f, 0.1f})
      for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
        const Tensor targets = test::random_ids(shape.without(-1), static_cast<std::int32_t>(shape[-1]));
        if (targets.numel() > 1) targets.data<std::int32_t>()[1] = -100;
        test::expect_gradients(
            [&](const Tensors& in) {
              return cross_entropy(in[0], targets, {.label_smoothing = smoothing, .reduction = reduction});
            },
            {test::normal(shape)});
      }
}

TEST(CrossEntropy, IgnoredRowsHaveNoEffect) {
  const Tensor logits = test::normal({3, 5});
  const Tensor some = cross_entropy(logits, Tensor::ids({1, 7, 2}, {3}), {.ignored = 7});
  const Tensor rows = cross_entropy(logits, Tensor::ids({1, 7, 2}, {3}), {.ignored = 7, .reduction = Reduction::none});
  EXPECT_NEAR(some.item(), (rows.data()[0] + rows.data()[2]) / 2, 1e-6);
  EXPECT_EQ(rows.data()[1], 0.f);
  EXPECT_EQ(cross_entropy(logits, Tensor::ids({-100, -100, -100}, {3})).item(), 0.f);
}

TEST(CrossEntropy, TheGradientIsComputedInPlaceOnlyIfTheLogitsAreNotShared) {
  Tensor leaf = test::normal({64, 1024});
  require_grad(leaf);
  const Tensor targets = test::random_ids({64}, 1024);
  const Tensor held = produced(leaf);
  const std::vector<float> before = held.to_vector();
  backward(cross_entropy(held, targets));
  EXPECT_EQ(held.to_vector(), before);
  const std::vector<float> expected = grad(leaf).to_vector();

  zero_grad(leaf);
  const std::size_t base = memory_use().current;
  reset_peak_memory();
  {
    const Tensor loss = cross_entropy(produced(leaf), targets);
    backward(loss);
  }
  EXPECT_EQ(grad(leaf).to_vector(), expected);
  EXPECT_LT(memory_use().peak - base, leaf.bytes() * 3 / 2);  // one copy of the logits, which becomes the gradient
}

TEST(CrossEntropy, WithoutGradientsOnlyTheLossesAreAllocated) {
  Tensor logits = test::normal({4096, 3});
  require_grad(logits);
  const Tensor targets = test::random_ids({4096}, 3);
  const NoGrad no_grad;
  const std::size_t base = memory_use().current;
  reset_peak_memory();
  const Tensor losses = cross_entropy(logits, targets, {.reduction = Reduction::none});
  EXPECT_EQ(memory_use().peak - base, losses.bytes());
}

TEST(CrossEntropy, OneThreadEqualsTwo) {
  const Tensors inputs = {test::normal({100, 331})};
  const Tensor targets = test::random_ids({100}, 331);
  const test::Function f = [&](const Tensors& in) { return Tensors{cross_entropy(in[0], targets)}; };
  set_threads(1);
  const test::Gradients one = test::gradients_of(f, inputs);
  set_threads(2);
  const test::Gradients two = test::gradients_of(f, inputs);
  EXPECT_EQ(one.results[0].item(), two.results[0].item());
  EXPECT_EQ(one.inputs[0].to_vector(), two.inputs[0].to_vector());
}

TEST(CrossEntropy, WrongInputIsReported) {
  const Tensor logits = test::normal({2, 3});
  EXPECT_ERROR(cross_entropy(logits, Tensor::ids({0, 3}, {2})),
               "[cross_entropy] target 1 is out of range: got id 3, expected 0 to 2");
  EXPECT_ERROR(cross_entropy(logits, Tensor::ids({0, -1}, {2})), "got id -1");
  EXPECT_ERROR(cross_entropy(logits, Tensor::ids({0}, {1})), "got logits [2, 3] and targets [1]");
  EXPECT_ERROR(cross_entropy(logits, Tensor::zeros({2})), "int32");
}

}  // namespace
}  // namespace attend
