// Where a token stands: attention itself does not know. Sinusoidal encodings and learned ones.
#pragma once
#include "attend/nn/embedding.h"

namespace attend {

/// How the sines and cosines of one frequency are laid out.
enum class PositionLayout {
  interleaved,  ///< sin, cos, sin, cos … as in the paper
  halves,       ///< all sines, then all cosines, as Marian does
};

/// P[t, 2i] = sin(t ω_i), P[t, 2i + 1] = cos(t ω_i) with ω_i = 10000^(-2i / D) (Vaswani et al. 2017, section 3.5), for
/// the positions first … first + T - 1.   -> [T, D].  An odd D has one sine more than cosines.
Tensor sinusoidal_positions(std::int64_t T, std::int64_t D, std::int64_t first = 0,
                            PositionLayout layout = PositionLayout::interleaved);

/// The rotation that shifts by a constant offset whatever the position: P[t + offset] = R P[t].   -> R [D, D], D even,
/// interleaved layout. Each frequency's pair (sin, cos) turns by the angle offset · ω_i.
Tensor position_rotation(std::int64_t offset, std::int64_t D);

/// Adds sinusoidal positions to x [B, T, D], or concatenates `width` columns of them: [B, T, D + width].
struct SinusoidalPositions {
  bool concatenate = false;
  std::int64_t width = 0;  ///< columns when concatenating
  PositionLayout layout = PositionLayout::interleaved;

  /// `first` is the position of x's first row: more than 0 when earlier ones are in a cache.
  Tensor operator()(const Tensor& x, std::int64_t first = 0) const;
};

/// Adds a learned vector for each position to x [B, T, D]. Throws beyond the last position it knows.
struct LearnedPositions {
  Embedding table;  // [most, D]

  LearnedPositions() = default;
  LearnedPositions(std::int64_t most, std::int64_t D, Generator& generator = default_generator())
      : table(most, D, generator) {}

  Tensor operator()(const Tensor& x, std::int64_t first = 0) const;
  void visit(auto&& v) { v("", table); }
};

}  // namespace attend
