// Layer normalisation and RMS normalisation of rows, optionally fused with the residual sum.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// sum = x + residual; y = (sum - mean) / sqrt(var + eps) * gain + bias. Without `centred` it is RMS normalisation:
/// y = sum / sqrt(mean of sum² + eps) * gain.   x, residual, sum, y [rows, cols]; gain, bias [cols]; mean,
/// inverse_deviation [rows]
struct Norm {
  bool centred = true;  ///< subtract the mean
  const float* x = nullptr;
  const float* residual = nullptr;  ///< null: none
  const float* gain = nullptr;
  const float* bias = nullptr;  ///< null: none; only if centred
  float eps = 1e-5f;
  float* sum = nullptr;                ///< null: not needed; may be x or residual
  float* y = nullptr;                  ///< may be x
  float* mean = nullptr;               ///< null: not needed; written only if centred
  float* inverse_deviation = nullptr;  ///< null: not needed
};
void norm(std::int64_t rows, std::int64_t cols, const Norm& p);

/// With n = (x - mean) * inverse_deviation and g = dy * gain:
/// dx = inverse_deviation * (g - mean(g) - n * mean(g * n)) + dsum; dgain (+)= sum of dy * n; dbias (+)= sum of dy.
/// Without `centred`, mean and mean(g) are left out.
struct NormGradient {
  bool centred = true;
  const float* x = nullptr;  ///< input of the normalisation; the sum, if there was a residual
  const float* gain = nullptr;
  const float* mean = nullptr;  ///< read only if centred
  const float* inverse_deviation = nullptr;
  const float* dy = nullptr;
  const float* dsum = nullptr;  ///< null: none; may be dx, to add to it
  float* dx = nullptr;          ///< null: not needed
  float* dgain = nullptr;       ///< null: not needed
  float* dbias = nullptr;       ///< null: not needed; only if centred
  bool add_to_dgain = false;
  bool add_to_dbias = false;
};
void norm_backward(std::int64_t rows, std::int64_t cols, const NormGradient& p);

}  // namespace attend::kernels
