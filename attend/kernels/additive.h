// Additive attention scores (Bahdanau et al. 2015), without a temporary tensor [B, T, S, D].
#pragma once
#include <cstdint>

namespace attend::kernels {

struct AdditiveShape {
  std::int64_t batch, queries, keys, width;  // B, T, S, D
  const std::int32_t* lengths = nullptr;     // [B]: number of keys of each sequence; null: S

  std::int64_t length(std::int64_t b) const { return lengths ? lengths[b] : keys; }
};

/// scores[b, i, j] = v · tanh(q[b, i] + k[b, j]); 0 for padding keys.
/// q [B, T, D], k [B, S, D], v [D] -> scores [B, T, S]
void additive_scores(const AdditiveShape& shape, const float* q, const float* k, const float* v, float* scores);

/// The gradients to compute. A null pointer means that it is not needed. Each is overwritten, or added to if its flag
/// is set.
struct AdditiveGradient {
  float *dq = nullptr, *dk = nullptr, *dv = nullptr;
  bool add_to_dq = false, add_to_dk = false, add_to_dv = false;
};
void additive_scores_backward(const AdditiveShape& shape, const float* q, const float* k, const float* v,
                              const float* dscores, const AdditiveGradient& gradient);

}  // namespace attend::kernels
