// Rotation of pairs of features by the angles of a position (Su et al. 2021, eq. 34).
#pragma once
#include <cstdint>

namespace attend::kernels {

/// Rotates the first rotary_dim features of the first `heads` heads of each row, in pairs. The other features are
/// copied. For a row at position p, the cosine and sine of the angle of pair i are at [p, i] of the tables.
struct Rotation {
  std::int64_t rows = 0, width = 0;  ///< width of a row, at least heads * head_dim
  std::int64_t heads = 0, head_dim = 0, rotary_dim = 0;
  const std::int32_t* positions = nullptr;           ///< [rows]
  const float *cosines = nullptr, *sines = nullptr;  ///< [positions, rotary_dim / 2]
  bool interleaved = false;                          ///< pairs are (2i, 2i + 1); otherwise (i, i + rotary_dim / 2)
  bool inverse = false;                              ///< rotate by the negative angles, for the gradient
  bool accumulate = false;                           ///< add to y
};
/// x, y [rows, width]. y may be the same memory as x.
void rotate(const Rotation& p, const float* x, float* y);

}  // namespace attend::kernels
