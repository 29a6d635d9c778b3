// A running average of parameters: the steps' noise goes, what they have in common stays. It is often better than any
// single step's parameters, so it is what is evaluated and kept. InPlace swaps other values in.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "attend/formats/safetensors.h"

namespace attend {

/// Each tensor once, under its first name: tied weights have several.
std::vector<NamedTensor> distinct(const std::vector<NamedTensor>& tensors);

/// Swaps the parameters with these values while it lives.
class InPlace {
 public:
  InPlace(std::vector<NamedTensor> parameters, std::vector<NamedTensor> values)
      : parameters_(std::move(parameters)), values_(std::move(values)) {
    swap();
  }
  ~InPlace() { swap(); }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

 private:
  void swap();
  std::vector<NamedTensor> parameters_, values_;
};

class ParameterAverage {
 public:
  /// After update n, average = d · average + (1 - d) · parameters with d = min(decay, n / (10 + n)), so that the first
  /// ones are soon forgotten.
  ParameterAverage(const std::vector<NamedTensor>& parameters, double decay);

  /// `step` counts from 1.
  void update(std::int64_t step);

  /// The parameters that are averaged, each once, though it may have several names.
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  /// Handles on the averages, under the parameters' names: for a checkpoint, and for InPlace.
  const std::vector<NamedTensor>& averages() const { return averages_; }

 private:
  std::vector<NamedTensor> parameters_, averages_;
  double decay_;
};

}  // namespace attend
