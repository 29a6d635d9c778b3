// Scaled dot-product attention (Vaswani et al. 2017, eq. 1), fused: scores, mask, softmax, dropout and values in one
// pass over tiles. Memory grows with T, not with T², forward and backward.
#pragma once
#include <optional>

#include "attend/core/tensor.h"
#include "attend/ops/mask.h"

namespace attend {

struct AttentionOptions {
  Mask mask = {};                   ///< who may see whom
  std::optional<float> scale = {};  ///< what scores are multiplied by; 1 / sqrt(D) unless given
  float dropout = 0.f;              ///< of the weights, inside a Training scope
};

/// softmax(scale · q kᵀ + mask) v for each head.   q [B, T, H, D], k [B, S, H, D], v [B, S, H, E] -> [B, T, H, E]
/// A query that sees nothing gives zeros. Throws when shapes, or the mask's, do not fit.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

/// The same with all three in one tensor, as one linear layer makes them: each row is the heads of q, then those of k,
/// then those of v. Nothing is copied, and the gradient is one tensor.   qkv [B, T, 3·H·D] -> [B, T, H·D]
Tensor self_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});

/// The same with keys and values in one tensor, each row k and then v.   q [B, T, H·D], kv [B, S, 2·H·D] -> [B, T, H·D]
Tensor cross_attention(const Tensor& q, const Tensor& kv, std::int64_t heads, const AttentionOptions& options = {});

/// The softmax by itself, before dropout, for those who want to see it. Costs memory of T · S; has no gradient. Of
/// texts one behind the other (Mask::texts), B is their number, and T and S the length of the longest.
/// q [B, T, H, D], k [B, S, H, D] -> [B, H, T, S]
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {});
/// Of self_attention.   -> [B, H, T, T]
Tensor self_attention_weights(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});
/// Of cross_attention.   -> [B, H, T, S]
Tensor cross_attention_weights(const Tensor& q, const Tensor& kv, std::int64_t heads,
                               const AttentionOptions& options = {});

}  // namespace attend
