// The update rules of the optimisers, and the norm of all gradients. Each makes one pass over all parameters, which are
// divided evenly among the threads.
#pragma once
#include <cstdint>
#include <span>

namespace attend::kernels {

/// g = gradient_scale * gradient, followed by the operations of PyTorch in the same order:
///   coupled: g += weight_decay * parameter; decoupled (AdamW): parameter *= 1 - learning_rate * weight_decay
///   mean += (1 - beta1) (g - mean); square = beta2 square + (1 - beta2) g^2
///   parameter -= learning_rate / (1 - beta1^t) * mean / (sqrt(square) / sqrt(1 - beta2^t) + eps)
struct AdamTensor {
  std::int64_t size = 0;
  float* parameter = nullptr;
  const float* gradient = nullptr;
  float* mean = nullptr;
  float* square = nullptr;
  std::int64_t step = 1;  ///< t, starting at 1
  float weight_decay = 0.f;
};
struct AdamRule {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  bool decoupled = false;
  float gradient_scale = 1.f;
};
void adam(std::span<const AdamTensor> tensors, const AdamRule& rule);

struct Values {
  std::int64_t size = 0;
  float* data = nullptr;
};
/// The sum of all squares in float64. It does not depend on the number of threads.
double sum_of_squares(std::span<const Values> tensors);

}  // namespace attend::kernels
