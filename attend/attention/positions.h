// Position encodings: sinusoidal, and the learned relative bias of T5. Attention itself ignores the order of tokens.
#pragma once
#include <span>

#include "attend/nn/init.h"

namespace attend {

/// The order of sines and cosines in a position vector.
enum class PositionLayout {
  interleaved,  ///< sin, cos, sin, cos, … as in Vaswani et al.
  halves,       ///< all sines, then all cosines, as in Marian
  fairseq,      ///< halves with ω_i = 10000^(-i / (⌊D/2⌋ - 1)), as in M2M-100; if D is odd, the last element is 0
};

/// P[t, 2i] = sin(t ω_i), P[t, 2i + 1] = cos(t ω_i) with ω_i = 10000^(-2i / D) (Vaswani et al. 2017, section 3.5), for
/// the positions first … first + T - 1.   -> [T, D].  If D is odd, there is one more sine than cosines.
Tensor sinusoidal_positions(std::int64_t T, std::int64_t D, std::int64_t first = 0,
                            PositionLayout layout = PositionLayout::interleaved);

/// The rotation matrix R that shifts every position by the same offset: P[t + offset] = R P[t].   -> [D, D]
/// D must be even, and the layout interleaved. R rotates the pair (sin, cos) of frequency i by the angle offset · ω_i.
Tensor position_rotation(std::int64_t offset, std::int64_t D);

/// A learned bias that is added to the scores. It depends on the distance between query and key; distances are grouped
/// in buckets, which are wider for larger distances (Raffel et al. 2020, section 2.1; T5). All layers of an encoder or
/// decoder share one table.
struct RelativeBias {
  Tensor table;  // [buckets, heads]
  bool bidirectional =
      true;  // true: half of the buckets are for later keys; false: later keys use the bucket of distance 0
  std::int64_t max_distance = 128;

  RelativeBias() = default;
  RelativeBias(std::int64_t buckets, std::int64_t heads, bool both_directions, std::int64_t most,
               Generator& generator = default_generator());

  bool defined() const { return table.defined(); }
  /// The bucket for a key whose position is that of the query plus `offset`.
  std::int32_t bucket(std::int64_t offset) const;
  /// The bias for queries at positions 0 … T - 1 and keys at 0 … S - 1. Differentiable.   -> [1, heads, T, S]
  Tensor operator()(std::int64_t T, std::int64_t S) const;
  /// The bias for one query of each sequence, at its last position lengths[i] - 1. Sequences of equal length share it.
  ///   -> [N, heads, longest], or [1, heads, longest] if all lengths are equal
  Tensor last(std::span<const std::int64_t> lengths) const;

  void visit(auto&& v) { v("weight", table); }
};

}  // namespace attend
