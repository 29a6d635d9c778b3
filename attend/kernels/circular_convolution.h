// Circular convolution of rows with short kernels.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// y[b, i] = Σ_o s[b, o + K/2] w[b, (i - o) mod N], o from -K/2 to K/2.   w, y [B, N], s [B, K] with K odd
void circular_convolution(std::int64_t batch, std::int64_t n, std::int64_t k, const float* w, const float* s, float* y);

/// dw and ds may be null. Each is overwritten, or added to if its flag is set.
struct CircularGradient {
  float *dw = nullptr, *ds = nullptr;
  bool add_to_dw = false, add_to_ds = false;
};
void circular_convolution_backward(std::int64_t batch, std::int64_t n, std::int64_t k, const float* w, const float* s,
                                   const float* dy, const CircularGradient& gradient);

}  // namespace attend::kernels
