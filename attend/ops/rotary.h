// Rotary position embeddings (Su et al. 2021). Queries and keys are rotated by angles proportional to their positions,
// so that a score depends on the distance between query and key only.
//
//   const RotaryTable table(2048, rotary_frequencies(64));
//   qkv = rotate_heads(std::move(qkv), heads + kv_heads, 64, positions, table);  // the values do not change
#pragma once
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Which two features of a head are rotated as a pair. R is the number of rotated features of a head.
enum class RotaryLayout : std::uint8_t {
  halves,       ///< (i, i + R / 2), as in Llama and GPT-NeoX
  interleaved,  ///< (2i, 2i + 1), as in the paper and in GPT-J
};

/// θ_i = base^(-2i / R) for the R / 2 pairs; R must be even. Models with a longer context scale these frequencies.
std::vector<double> rotary_frequencies(std::int64_t rotary_dim, double base = 10000);

/// A table of cos(p · θ_i) and sin(p · θ_i) for every position p, computed in double precision, and multiplied by a
/// factor for models that scale the scores so. Copies share memory.
struct RotaryTable {
  Tensor cosines, sines;  // [positions, R / 2]
  RotaryLayout layout = RotaryLayout::halves;

  RotaryTable() = default;
  RotaryTable(std::int64_t positions, std::span<const double> frequencies, RotaryLayout pairs = RotaryLayout::halves,
              double factor = 1);

  bool defined() const { return cosines.defined(); }
  std::int64_t positions() const { return cosines.dim(0); }
  std::int64_t rotary_dim() const { return 2 * cosines.dim(1); }  ///< R
};

/// Rotates the first R features of the first `heads` heads of every row. The rest of a row, for example the values of a
/// fused projection, does not change. At position p, pair i = (a, b) becomes (a cos - b sin, b cos + a sin), with the
/// angle p · θ_i. The gradient is the rotation by the negative angle.
///   x [..., W] with W ≥ heads · head_dim, positions int32 with one element for each row of x -> [..., W]
/// Works in-place, without an allocation, if no other tensor shares the memory of x: pass a temporary, or use
/// std::move.
Tensor rotate_heads(Tensor x, std::int64_t heads, std::int64_t head_dim, const Tensor& positions,
                    const RotaryTable& table);

}  // namespace attend
