// Rotation of pairs of features by the angles of a position (Su et al. 2021, eq. 34).
#pragma once
#include <cstdint>

namespace attend::kernels {

/// The first `heads` heads of each row, head_dim wide and side by side, are rotated; the rest of the row is copied. Of
/// each head the first rotary_dim features are rotated in pairs, the others are copied. Pair i of a row at position p
/// has the angle whose cosine and sine stand at [p, i] of the tables.
struct Rotation {
  std::int64_t rows = 0, width = 0;  ///< width of a row, at least heads * head_dim
  std::int64_t heads = 0, head_dim = 0, rotary_dim = 0;
  const std::int32_t* positions = nullptr;           ///< [rows]
  const float *cosines = nullptr, *sines = nullptr;  ///< [positions, rotary_dim / 2]
  bool interleaved = false;                          ///< pairs are (2i, 2i + 1); otherwise (i, i + rotary_dim / 2)
  bool inverse = false;                              ///< rotate by the negative angles: the gradient
  bool accumulate = false;                           ///< add to y
};
/// x, y [rows, width]. y may be x, then nothing is copied.
void rotate(const Rotation& p, const float* x, float* y);

}  // namespace attend::kernels
