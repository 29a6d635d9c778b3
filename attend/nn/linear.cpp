#include "attend/nn/linear.h"

#include <vector>

#include "attend/ops/activation.h"

namespace attend {

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias, Generator& generator)
    : weight(Tensor::empty({out, in})) {
  init::uniform_fan_in(weight, in, generator);
  if (!with_bias) return;
  bias = Tensor::empty({out});
  init::uniform_fan_in(bias, in, generator);
}

Tensor Linear::adapted(const Tensor& x, Activation activation) const {
  Linear plain = *this;
  plain.adapter = nullptr;
  const Tensor y = add_low_rank(plain(x), x, {adapter.get(), 1});
  return activation == Activation::none ? y : activate(y, activation);
}

Tensor linear_together(const Tensor& x, std::span<const Linear* const> layers) {
  std::vector<LowRank> updates;
  std::int64_t first = 0;
  std::vector<Tensor> weights, biases;
  std::vector<Int8Matrix> matrices;
  for (const Linear* layer : layers) {
    if (layer->scales.defined())
      matrices.push_back({layer->weight, layer->scales});
    else
      weights.push_back(layer->weight);
    if (layer->bias.defined()) biases.push_back(layer->bias);
    if (layer->adapter) updates.push_back(*layer->adapter), updates.back().first = first;
    first += layer->out();
  }
  const Tensor y = matrices.empty() ? linear_together(x, weights, biases) : linear_together(x, matrices, biases);
  return updates.empty() ? y : add_low_rank(y, x, updates);
}

void place_together(std::span<Linear* const> layers) {
  std::vector<Tensor*> weights, biases;
  for (Linear* layer : layers) {
    weights.push_back(&layer->weight);
    if (layer->bias.defined()) biases.push_back(&layer->bias);
  }
  place_together(weights);
  if (!biases.empty()) place_together(biases);
}

}  // namespace attend
