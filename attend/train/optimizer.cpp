#include "attend/train/optimizer.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "attend/core/error.h"
#include "attend/kernels/optimizer.h"
#include "attend/ops/tape.h"

namespace attend {

Optimizer::Optimizer(std::vector<NamedTensor> parameters, float weight_decay, const Decays& decays) {
  std::unordered_set<const Node*> seen;
  for (NamedTensor& parameter : parameters) {
    if (!requires_grad(parameter.tensor) || !seen.insert(parameter.tensor.node().get()).second) continue;
    if (parameter.tensor.borrowed())
      fail("optimizer", "parameter \"", parameter.name,
           "\" is borrowed from a mapped file, which is read-only; load the model without mapping, or copy() it");
    const bool decay = !decays || decays(parameter.name, parameter.tensor);
    entries_.push_back({std::move(parameter.name), std::move(parameter.tensor), decay ? weight_decay : 0.f, {}});
  }
}

void Optimizer::zero_grad() const {
  for (const Entry& entry : entries_) attend::zero_grad(entry.parameter);
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all;
  for (const Entry& entry : entries_) all.push_back(entry.parameter);
  return all;
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> all;
  for (const Entry& entry : entries_)
    for (const NamedTensor& value : entry.state) all.push_back({entry.name + "." + value.name, value.tensor});
  return all;
}

void Optimizer::load_state(std::span<const NamedTensor> saved) {
  const std::vector<NamedTensor> own = state();
  std::vector<Tensor> found;  // all are checked before the first is copied
  for (const auto& [name, tensor] : own) {
    const auto match = std::ranges::find(saved, name, &NamedTensor::name);
    if (match == saved.end())
      fail("optimizer", "the saved state has no \"", name, "\"; it may belong to another optimiser");
    if (match->tensor.shape() != tensor.shape() || match->tensor.dtype() != tensor.dtype())
      fail("optimizer", "the saved \"", name, "\" has a wrong type or shape: got ", match->tensor.dtype(), " ",
           match->tensor.shape(), ", expected ", tensor.dtype(), " ", tensor.shape());
    found.push_back(match->tensor);
  }
  for (std::size_t i = 0; i < own.size(); ++i) std::memcpy(own[i].tensor.raw(), found[i].raw(), found[i].bytes());
}

Adam::Adam(std::vector<NamedTensor> parameters, const AdamOptions& options)
    : Optimizer(std::move(parameters), options.weight_decay, options.decays), options_(options) {
  for (Entry& entry : entries_)
    entry.state = {{"exp_avg", Tensor::zeros(entry.parameter.shape())},
                   {"exp_avg_sq", Tensor::zeros(entry.parameter.shape())},
                   {"step", Tensor::zeros({}, DType::i32)}};
}

void Adam::step(const StepOptions& options) {
  std::vector<kernels::AdamTensor> tensors;
  for (Entry& entry : entries_)
    if (const Tensor gradient = grad(entry.parameter))
      tensors.push_back({.size = gradient.numel(),
                         .parameter = entry.parameter.data(),
                         .gradient = gradient.data(),
                         .mean = entry.state[0].tensor.data(),
                         .square = entry.state[1].tensor.data(),
                         .step = ++*entry.state[2].tensor.data<std::int32_t>(),
                         .weight_decay = entry.weight_decay});
  kernels::adam(tensors, {.learning_rate = options_.learning_rate * options.rate_factor,
                          .beta1 = options_.beta1,
                          .beta2 = options_.beta2,
                          .eps = options_.eps,
                          .decoupled = options_.decoupled,
                          .gradient_scale = options.gradient_scale});
}

}  // namespace attend
