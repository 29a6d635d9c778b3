// A running average of parameters: the steps' noise goes, what they have in common stays. It is often better than any
// single step's parameters, so it is what is judged and kept.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/formats/safetensors.h"

namespace attend {

class ParameterAverage {
 public:
  /// After update n, average = d · average + (1 - d) · parameters with d = min(decay, n / (10 + n)), so that the first
  /// ones are soon forgotten.
  ParameterAverage(const std::vector<NamedTensor>& parameters, double decay);

  /// `step` counts from 1.
  void update(std::int64_t step);

  /// Handles on the averages, under the parameters' names: for a checkpoint.
  const std::vector<NamedTensor>& averages() const { return averages_; }

  /// While it lives, the parameters have the averages' values.
  class InPlace {
   public:
    explicit InPlace(ParameterAverage* average) : average_(average) { swap(); }
    ~InPlace() { swap(); }
    InPlace(const InPlace&) = delete;
    InPlace& operator=(const InPlace&) = delete;

   private:
    void swap();
    ParameterAverage* average_;  // null: nothing is averaged, the parameters stay
  };

 private:
  std::vector<NamedTensor> parameters_, averages_;
  double decay_;
};

}  // namespace attend
