#include "attend/nn/linear.h"

#include <algorithm>
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

std::vector<Tensor> linear_groups(const Tensor& x, std::span<const std::vector<const Linear*>> groups) {
  const auto plain = [](const Linear* layer) { return !layer->scales.defined() && !layer->adapter; };
  if (!std::ranges::all_of(groups, [&](const auto& group) { return std::ranges::all_of(group, plain); })) {
    std::vector<Tensor> results;
    for (const std::vector<const Linear*>& group : groups) results.push_back(linear_together(x, group));
    return results;
  }
  std::vector<LinearGroup> of_tensors(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const Linear* layer : groups[i]) {
      of_tensors[i].weights.push_back(layer->weight);
      if (layer->bias.defined()) of_tensors[i].biases.push_back(layer->bias);
    }
  return linear_groups(x, of_tensors);
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
