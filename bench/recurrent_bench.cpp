// Recurrent layers and additive scores, forward and backward. The peer is recurrent_torch.py.
#include "attend/core/random.h"
#include "attend/nn/module.h"
#include "attend/nn/recurrent.h"
#include "attend/ops/additive_scores.h"
#include "attend/ops/tape.h"
#include "bench/job.h"

namespace {

using namespace attend;

Tensor parameter(const Shape& shape, float bound) {
  Tensor tensor = Tensor::empty(shape);
  fill_uniform(tensor, -bound, bound);
  require_grad(tensor);
  return tensor;
}

template <typename Layer>
bench::Run layers() {
  Layer layer({.input = 256, .hidden = 256, .layers = 2});
  for_each_parameter(layer, [](const std::string&, Tensor& tensor) { require_grad(tensor); });
  const Tensor x = parameter({128, 10, 256}, 1.f), seed = Tensor::full(x.shape(), 1.f);
  return [=]() mutable {
    backward(layer(x).y, seed);
    zero_grad(x);
    for_each_parameter(layer, [](const std::string&, Tensor& tensor) { zero_grad(tensor); });
  };
}

bench::Run scores() {
  const Tensor q = parameter({128, 10, 256}, 1.f), k = parameter({128, 10, 256}, 1.f), v = parameter({256}, 1.f);
  const Tensor seed = Tensor::full({128, 10, 10}, 1.f);
  return [=] {
    backward(additive_scores(q, k, v), seed);
    for (const Tensor* tensor : {&q, &k, &v}) zero_grad(*tensor);
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("gru.128x10x256.two_layers.both", 1.5, layers<Gru>);
  bench::job("lstm.128x10x256.two_layers.both", 0, layers<Lstm>);
  bench::job("additive_scores.128x10x10x256.both", 3, scores);
  return bench::serve(argc, argv);
}
