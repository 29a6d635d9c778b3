// Where a token stands: attention itself does not know. Sinusoidal encodings and learned ones.
#pragma once
#include <span>

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

/// A learned bias on the scores by the distance between query and key, in buckets that widen with it (Raffel et al.
/// 2020, section 2.1; T5). All layers of a side share one.
struct RelativeBias {
  Tensor table;               // [buckets, heads]
  bool bidirectional = true;  // half of the buckets are of later keys; otherwise these share the bucket of distance 0
  std::int64_t max_distance = 128;

  RelativeBias() = default;
  RelativeBias(std::int64_t buckets, std::int64_t heads, bool both_directions, std::int64_t most,
               Generator& generator = default_generator());

  bool defined() const { return table.defined(); }
  /// The bucket of a key that stands `offset` positions behind the query; before it, if negative.
  std::int32_t bucket(std::int64_t offset) const;
  /// For the first T queries and S keys, with gradient.   -> [1, heads, T, S]
  Tensor operator()(std::int64_t T, std::int64_t S) const;
  /// For one query a row, which stands at the last of lengths[i] positions.   -> [N, heads, longest]
  Tensor last(std::span<const std::int64_t> lengths) const;

  void visit(auto&& v) { v("weight", table); }
};

}  // namespace attend
