// Initialisation of parameters. For a weight [out, in, ...], fan-in is in · (product of the rest), and fan-out is
// out · (product of the rest).
#pragma once
#include "attend/core/random.h"
#include "attend/core/tensor.h"

namespace attend::init {

/// Disables initialisation on this thread while the object lives: the functions below do not write to the weights, so
/// their memory is not touched. Use it for models whose parameters are loaded from a file.
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

/// Uniform in ±gain √(6 / (fan_in + fan_out)) (Glorot and Bengio 2010, eq. 16).
void xavier_uniform(Tensor& weight, float gain = 1.f, Generator& generator = default_generator());
/// Normal with mean 0.
void normal(Tensor& weight, float deviation, Generator& generator = default_generator());
/// Uniform in ±1 / √fan_in, PyTorch's default for linear, convolution and recurrent layers.
void uniform_fan_in(Tensor& weight, std::int64_t fan_in, Generator& generator = default_generator());

}  // namespace attend::init
