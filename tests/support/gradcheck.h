// Compares gradients with finite differences. For L = sum of (outputs · fixed random weights), dL/dx from the tape must
// equal the central difference. Richardson extrapolation makes a step that is large enough for float32's rounding
// errors accurate enough.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "attend/core/random.h"
#include "attend/core/tensor.h"
#include "attend/ops/tape.h"

namespace attend::test {

using Tensors = std::vector<Tensor>;
/// An op with its attributes bound, from its inputs to its results.
using Function = std::function<Tensors(const Tensors&)>;

struct GradCheckOptions {
  float step = 2e-2f;       ///< inputs should be of order 1, and kinks (ReLU, max) further away than this
  float tolerance = 2e-3f;  ///< allowed difference, relative to max(1, largest gradient of the input)
  int elements = 48;        ///< the maximum number of elements to test in each input; a random choice of larger inputs
};

/// Fixed random weights in [-1, 1) for each result, so that errors do not cancel by symmetry.
inline Tensors loss_weights(const Tensors& results) {
  Generator generator(20170612);
  Tensors weights;
  for (const Tensor& result : results) {
    weights.push_back(Tensor::empty(result.shape()));
    fill_uniform(weights.back(), -1.f, 1.f, generator);
  }
  return weights;
}

/// The results of a function and the gradients of its inputs. A gradient is undefined for ids and for inputs that the
/// results do not depend on.
struct Gradients {
  Tensors results, inputs;
};
inline Gradients gradients_of(const Function& f, const Tensors& inputs,
                              const std::function<Tensors(const Tensors&)>& weights_for = loss_weights) {
  Tensors leaves;
  for (const Tensor& input : inputs) {
    leaves.push_back(input.detach());
    if (input.dtype() == DType::f32) require_grad(leaves.back());
  }
  Gradients all{f(leaves), {}};
  const Tensors weights = weights_for(all.results);
  // One op with all results as inputs, so that one backward pass covers all of them.
  const Tensor loss = record("loss", Tensor::scalar(0), all.results, [=](const Tensor&, Grads& grads) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (grads.wants(i)) grads.add(i, weights[i].copy());
  });
  if (requires_grad(loss)) backward(loss);
  for (const Tensor& leaf : leaves) all.inputs.push_back(requires_grad(leaf) ? grad(leaf) : Tensor());
  for (Tensor& result : all.results) result = result.detach();
  return all;
}

/// Expects the gradient of every float32 input to equal the finite difference.
inline void expect_gradients(const Function& f, const Tensors& inputs, const GradCheckOptions& options = {}) {
  const Gradients tape = gradients_of(f, inputs);
  const Tensors weights = loss_weights(tape.results);
  const auto loss = [&] {
    NoGrad no_grad;
    const Tensors results = f(inputs);
    double sum = 0;
    for (std::size_t i = 0; i < results.size(); ++i)
      for (std::int64_t j = 0; j < results[i].numel(); ++j)
        sum += static_cast<double>(results[i].data()[j]) * static_cast<double>(weights[i].data()[j]);
    return sum;
  };

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != DType::f32) continue;
    const Tensor& analytic = tape.inputs[i];
    ASSERT_TRUE(!analytic.defined() || analytic.shape() == inputs[i].shape()) << "gradient of input " << i;
    const auto slope = [&](float& x, float step) {
      const float centre = x, above = centre + step, below = centre - step;
      x = above;
      const double loss_above = loss();
      x = below;
      const double loss_below = loss();
      x = centre;
      return (loss_above - loss_below) / (static_cast<double>(above) - static_cast<double>(below));
    };
    double scale = 1;
    if (analytic.defined())
      for (const float value : analytic.span()) scale = std::max(scale, std::abs(static_cast<double>(value)));
    const std::int64_t n = inputs[i].numel(), tries = std::min<std::int64_t>(n, options.elements);
    for (std::int64_t t = 0; t < tries; ++t) {
      const auto random = philox({7, i}, static_cast<std::uint64_t>(t))[0];
      const std::int64_t at = tries == n ? t : static_cast<std::int64_t>(random) % n;
      float& x = inputs[i].data()[at];
      const double numeric = (4 * slope(x, options.step / 2) - slope(x, options.step)) / 3;
      const double got = analytic.defined() ? static_cast<double>(analytic.data()[at]) : 0.0;
      EXPECT_NEAR(got, numeric, options.tolerance * scale)
          << "gradient of input " << i << " " << inputs[i].shape() << " at element " << at;
    }
  }
}

/// The same for an op with one result: expect_gradients([](const Tensors& x) { return softmax(x[0]); }, {x});
template <typename F>
requires std::is_same_v<std::invoke_result_t<F, const Tensors&>, Tensor>
void expect_gradients(F f, const Tensors& inputs, const GradCheckOptions& options = {}) {
  expect_gradients(Function([f](const Tensors& x) { return Tensors{f(x)}; }), inputs, options);
}

/// A float32 tensor of normal random numbers, which depend on the seed only.
inline Tensor normal(const Shape& shape, std::uint64_t seed = 1, float deviation = 1.f) {
  Generator generator(seed);
  Tensor x = Tensor::empty(shape);
  fill_normal(x, 0.f, deviation, generator);
  return x;
}
/// An int32 tensor of random numbers in [0, bound).
inline Tensor random_ids(const Shape& shape, std::int32_t bound, std::uint64_t seed = 1) {
  Tensor x = Tensor::empty(shape, DType::i32);
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.data<std::int32_t>()[i] = static_cast<std::int32_t>(philox({seed, 0}, static_cast<std::uint64_t>(i))[0] %
                                                          static_cast<std::uint32_t>(bound));
  return x;
}

}  // namespace attend::test
