// An exponential moving average of the parameters. It is less noisy than the parameters after a single update and often
// gives better scores, so the trainer can evaluate and save it instead.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "attend/formats/safetensors.h"

namespace attend {

/// Removes duplicates: a tensor with several names (tied weights) is kept under its first name.
std::vector<NamedTensor> distinct(const std::vector<NamedTensor>& tensors);

/// Swaps the parameters with other values for its lifetime. The destructor swaps them back.
class ScopedParameters {
 public:
  ScopedParameters(std::vector<NamedTensor> parameters, std::vector<NamedTensor> values)
      : parameters_(std::move(parameters)), values_(std::move(values)) {
    swap();
  }
  ~ScopedParameters() { swap(); }
  ScopedParameters(const ScopedParameters&) = delete;
  ScopedParameters& operator=(const ScopedParameters&) = delete;

 private:
  void swap();
  std::vector<NamedTensor> parameters_, values_;
};

class ParameterAverage {
 public:
  /// After update n, average = d · average + (1 - d) · parameters with d = min(decay, n / (10 + n)). The smaller d of
  /// the first updates makes the average forget the initial parameters quickly.
  ParameterAverage(const std::vector<NamedTensor>& parameters, double decay);

  /// `step` is the number of updates so far, counted from 1.
  void update(std::int64_t step);

  /// The averaged parameters, without duplicates.
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  /// The averages, under the names of the parameters: for a checkpoint, and for ScopedParameters.
  const std::vector<NamedTensor>& averages() const { return averages_; }

 private:
  std::vector<NamedTensor> parameters_, averages_;
  double decay_;
};

}  // namespace attend
