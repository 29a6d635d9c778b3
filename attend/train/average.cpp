#include "attend/train/average.h"

#include <algorithm>
#include <set>

#include "attend/core/threads.h"

namespace attend {

ParameterAverage::ParameterAverage(const std::vector<NamedTensor>& parameters, double decay) : decay_(decay) {
  std::set<const std::byte*> seen;  // a tensor may have several names
  for (const NamedTensor& parameter : parameters) {
    if (!seen.insert(parameter.tensor.raw()).second) continue;
    parameters_.push_back(parameter);
    averages_.push_back({parameter.name, parameter.tensor.copy()});
  }
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

void ParameterAverage::InPlace::swap() {
  if (!average_) return;
  for (std::size_t i = 0; i < average_->parameters_.size(); ++i)
    std::ranges::swap_ranges(average_->parameters_[i].tensor.span(), average_->averages_[i].tensor.span());
}

}  // namespace attend
