// Additive attention scores (Bahdanau et al. 2015) without the [B, T, S, D] tensor that their formula spells.
#pragma once
#include <cstdint>

namespace attend::kernels {

struct AdditiveShape {
  std::int64_t batch, queries, keys, width;  // B, T, S, D
  const std::int32_t* lengths = nullptr;     // [B]: keys that each has; null: all S

  std::int64_t length(std::int64_t b) const { return lengths ? lengths[b] : keys; }
};

/// scores[b, i, j] = v · tanh(q[b, i] + k[b, j]); 0 for keys beyond a length.
/// q [B, T, D], k [B, S, D], v [D] -> scores [B, T, S]
void additive_scores(const AdditiveShape& shape, const float* q, const float* k, const float* v, float* scores);

/// Gradients, each null when it is not wanted, overwritten or added to.
struct AdditiveGradient {
  float *dq = nullptr, *dk = nullptr, *dv = nullptr;
  bool add_to_dq = false, add_to_dk = false, add_to_dv = false;
};
void additive_scores_backward(const AdditiveShape& shape, const float* q, const float* k, const float* v,
                              const float* dscores, const AdditiveGradient& gradient);

}  // namespace attend::kernels
