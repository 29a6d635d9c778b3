#include "attend/train/average.h"

#include <algorithm>
#include <set>

#include "attend/core/threads.h"

namespace attend {

std::vector<NamedTensor> distinct(const std::vector<NamedTensor>& tensors) {
  std::set<const std::byte*> seen;
  std::vector<NamedTensor> first;
  for (const NamedTensor& named : tensors)
    if (seen.insert(named.tensor.raw()).second) first.push_back(named);
  return first;
}

void ScopedParameters::swap() {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    std::ranges::swap_ranges(parameters_[i].tensor.span(), values_[i].tensor.span());
}

ParameterAverage::ParameterAverage(const std::vector<NamedTensor>& parameters, double decay)
    : parameters_(distinct(parameters)), decay_(decay) {
  for (const NamedTensor& parameter : parameters_) averages_.push_back({parameter.name, parameter.tensor.copy()});
}

void ParameterAverage::update(std::int64_t step) {
  const auto n = static_cast<double>(step);
  const auto share = static_cast<float>(1 - std::min(decay_, n / (10 + n)));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const float* parameter = parameters_[i].tensor.data();
    float* average = averages_[i].tensor.data();
    constexpr std::int64_t kGrain = 1 << 14;
    parallel_for(parameters_[i].tensor.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin; j < end; ++j) average[j] += share * (parameter[j] - average[j]);
    });
  }
}

}  // namespace attend
