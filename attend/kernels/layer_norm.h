// Layer normalisation over rows, with the residual sum in the same pass.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// sum = x + residual; y = (sum - mean) / sqrt(var + eps) * gain + bias.   x, residual, sum, y [rows, cols]; gain, bias
/// [cols]; mean, inverse_deviation [rows]
struct LayerNorm {
  const float* x = nullptr;
  const float* residual = nullptr;  ///< null: none
  const float* gain = nullptr;
  const float* bias = nullptr;
  float eps = 1e-5f;
  float* sum = nullptr;                ///< null: not kept; may be x or residual
  float* y = nullptr;                  ///< may be x
  float* mean = nullptr;               ///< null: not kept
  float* inverse_deviation = nullptr;  ///< null: not kept
};
void layer_norm(std::int64_t rows, std::int64_t cols, const LayerNorm& p);

/// With n = (x - mean) * inverse_deviation and g = dy * gain:
/// dx = inverse_deviation * (g - mean(g) - n * mean(g * n)) + dsum; dgain (+)= sum of dy * n; dbias (+)= sum of dy.
struct LayerNormGradient {
  const float* x = nullptr;  ///< what was normalised: the sum, if there was a residual
  const float* gain = nullptr;
  const float* mean = nullptr;
  const float* inverse_deviation = nullptr;
  const float* dy = nullptr;
  const float* dsum = nullptr;  ///< null: none; may be dx, to add to it
  float* dx = nullptr;          ///< null: not wanted
  float* dgain = nullptr;       ///< null: not wanted
  float* dbias = nullptr;       ///< null: not wanted
  bool add_to_dgain = false;
  bool add_to_dbias = false;
};
void layer_norm_backward(std::int64_t rows, std::int64_t cols, const LayerNormGradient& p);

}  // namespace attend::kernels
