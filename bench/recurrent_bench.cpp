// Recurrent layers and additive scores, forward and backward. The peer's side is recurrent_torch.py.
#include "attend/core/random.h"
#include "attend/ops/gru.h"
#include "attend/ops/lstm.h"
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

bench::Run layers(decltype(gru)* layer, std::int64_t gates, std::int64_t batch, std::int64_t steps, std::int64_t hidden,
                  int depth) {
  const float bound = 1.f / 16;
  const Tensor x = parameter({batch, steps, hidden}, 1.f);
  std::vector<RecurrentWeights> weights;
  for (int i = 0; i < depth; ++i)
    weights.push_back({parameter({gates * hidden, hidden}, bound), parameter({gates * hidden, hidden}, bound),
                       parameter({gates * hidden}, bound), parameter({gates * hidden}, bound)});
  const Tensor seed = Tensor::full(x.shape(), 1.f);
  return [=] {
    Tensor h = x;
    for (const RecurrentWeights& w : weights) h = layer(h, w, {}).y;
    backward(h, seed);
    zero_grad(x);
    for (const RecurrentWeights& w : weights)
      for (const Tensor* t : {&w.weight_ih, &w.weight_hh, &w.bias_ih, &w.bias_hh}) zero_grad(*t);
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("gru 2x256, batch 128, 10 steps", 1.5, [] { return layers(gru, 3, 128, 10, 256, 2); });
  bench::job("lstm 2x256, batch 128, 10 steps", 0, [] { return layers(lstm, 4, 128, 10, 256, 2); });
  return bench::serve(argc, argv);
}
