#include "attend/nn/linear.h"

#include <vector>

namespace attend {

Linear::Linear(std::int64_t in, std::int64_t out, bool with_bias, Generator& generator)
    : weight(Tensor::empty({out, in})) {
  init::uniform_fan_in(weight, in, generator);
  if (!with_bias) return;
  bias = Tensor::empty({out});
  init::uniform_fan_in(bias, in, generator);
}

Tensor linear_together(const Tensor& x, std::span<const Linear* const> layers) {
  std::vector<Tensor> weights, biases;
  std::vector<Int8Matrix> matrices;
  for (const Linear* layer : layers) {
    if (layer->scales.defined())
      matrices.push_back({layer->weight, layer->scales});
    else
      weights.push_back(layer->weight);
    if (layer->bias.defined()) biases.push_back(layer->bias);
  }
  return matrices.empty() ? linear_together(x, weights, biases) : linear_together(x, matrices, biases);
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
