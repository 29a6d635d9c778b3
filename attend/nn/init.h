// What parameters begin as. A weight is [out, in, ...]: its fan-in is in · (the rest), its fan-out out · (the rest).
#pragma once
#include "attend/core/random.h"
#include "attend/core/tensor.h"

namespace attend::init {

/// While one lives, this thread's models begin as nothing in particular: the functions below leave weights as they are,
/// and their memory untouched. For models that a file is about to fill.
class Skipped {
 public:
  Skipped();
  ~Skipped();
  Skipped(const Skipped&) = delete;
  Skipped& operator=(const Skipped&) = delete;

 private:
  bool before_;
};
/// Whether this thread is inside a Skipped scope.
bool skipped();

/// Uniform in ±gain √(6 / (fan_in + fan_out)); normal with deviation gain √(2 / (fan_in + fan_out)).
/// Glorot and Bengio 2010, eq. 16.
void xavier_uniform(Tensor& weight, float gain = 1.f, Generator& generator = default_generator());
void xavier_normal(Tensor& weight, float gain = 1.f, Generator& generator = default_generator());

/// Uniform in ±gain √(3 / fan_in); normal with deviation gain / √fan_in. He et al. 2015, eq. 10; √2 is ReLU's gain.
void kaiming_uniform(Tensor& weight, float gain = 1.41421356f, Generator& generator = default_generator());
void kaiming_normal(Tensor& weight, float gain = 1.41421356f, Generator& generator = default_generator());

/// Normal with mean 0.
void normal(Tensor& weight, float deviation, Generator& generator = default_generator());
/// Normal with mean 0, drawn again when further than `cut` deviations away.
void truncated_normal(Tensor& weight, float deviation, float cut = 2.f, Generator& generator = default_generator());

/// PyTorch's own default for linear, convolution and recurrent layers: uniform in ±1 / √fan_in.
void uniform_fan_in(Tensor& weight, std::int64_t fan_in, Generator& generator = default_generator());

}  // namespace attend::init
