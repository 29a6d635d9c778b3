// The linear layer, and its speed relative to the matrix products alone, without bias, activation and their gradients.
#include <algorithm>

#include "attend/core/random.h"
#include "attend/kernels/matmul.h"
#include "attend/ops/linear.h"
#include "attend/ops/tape.h"
#include "bench/job.h"

namespace {

using namespace attend;

constexpr std::int64_t kRows = 1024, kIn = 768, kOut = 3072;

Tensor normal(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x, 0.f, 0.5f);
  return x;
}

bench::Run both(Activation activation) {
  Tensor x = normal({kRows, kIn}), weight = normal({kOut, kIn}), bias = normal({kOut});
  for (Tensor* leaf : {&x, &weight, &bias}) require_grad(*leaf);
  const Tensor dy = normal({kRows, kOut});
  return [=] {
    backward(linear(x, weight, bias, activation), dy);
    for (const Tensor& leaf : {x, weight, bias}) zero_grad(leaf);
  };
}

/// Only the three matrix products of the forward and backward pass.
bench::Run bare() {
  const Tensor x = normal({kRows, kIn}), weight = normal({kOut, kIn}), y = normal({kRows, kOut});
  const Tensor dx = normal({kRows, kIn}), dweight = normal({kOut, kIn});
  return [=] {
    kernels::matmul({.m = kRows, .n = kOut, .k = kIn, .transpose_b = true}, x.data(), weight.data(), y.data());
    kernels::matmul({.m = kRows, .n = kIn, .k = kOut}, y.data(), weight.data(), dx.data());
    kernels::matmul({.m = kOut, .n = kIn, .k = kRows, .transpose_a = true}, y.data(), x.data(), dweight.data());
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("linear_gelu.1024x768x3072.both", 1.15, [] { return both(Activation::gelu); });
  bench::job("linear_gelu_tanh.1024x768x3072.both", 1.15, [] { return both(Activation::gelu_tanh); });
  bench::job("linear_relu.1024x768x3072.both", 0, [] { return both(Activation::relu); });
  bench::figure("linear_gelu.1024x768x3072.share_of_matmul", "%", -85, [] {
    const bench::Run products = bare(), layer = both(Activation::gelu);
    double bare_seconds = 1e30,
           layer_seconds = 1e30;  // alternately, so that both are measured under the same conditions
    for (int round = 0; round < 4; ++round) {
      bare_seconds = std::min(bare_seconds, bench::best_seconds(products, 0.3));
      layer_seconds = std::min(layer_seconds, bench::best_seconds(layer, 0.3));
    }
    return 100 * bare_seconds / layer_seconds;
  });
  return bench::serve(argc, argv);
}
