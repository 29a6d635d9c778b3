// Scaled dot-product attention (Vaswani et al. 2017, eq. 1), fused: scores, bias, mask, softmax, dropout and values in
// one pass over tiles. Memory grows with T, not with T², forward and backward.
#pragma once
#include <optional>

#include "attend/core/tensor.h"
#include "attend/ops/mask.h"

namespace attend {

struct AttentionOptions {
  Mask mask = {};                   ///< which keys each query may attend to
  std::optional<float> scale = {};  ///< factor of the scores; 1 / sqrt(D) unless given
  float dropout = 0.f;              ///< of the weights, inside a Training scope
  /// Added to the scaled scores, with gradient: relative positions, say (Raffel et al. 2020, section 2.1).
  /// float32 [T, S], [B, T, S] or [B, H, T, S]; a size of 1 for B or H stands for all. With packed sequences
  /// (Mask::texts) B is 1, T and S are at least the longest length, and elements are indexed by the positions within
  /// each sequence.
  Tensor bias = {};
  /// Heads of keys and values in self_attention and cross_attention; 0 means as many as heads. It must divide heads:
  /// head h reads the keys and values of head h / (heads / kv_heads) (Ainslie et al. 2023, "GQA").
  std::int64_t kv_heads = 0;
};

/// softmax(scale · q kᵀ + bias + mask) v for each head.
/// q [B, T, H, D], k [B, S, KV, D], v [B, S, KV, E] -> [B, T, H, E]; KV, the heads of keys and values, divides H.
/// A query that sees nothing gives zeros. Throws when shapes, or those of the mask or bias, do not fit.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

/// The same with all three in one tensor, as one linear layer makes them: each row is the heads of q, then those of k,
/// then those of v. Nothing is copied, and the gradient is one tensor.   qkv [B, T, (H + 2·KV)·D] -> [B, T, H·D]
Tensor self_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});

/// The same with keys and values in one tensor, each row k and then v.
/// q [B, T, H·D], kv [B, S, 2·KV·D] -> [B, T, H·D]
Tensor cross_attention(const Tensor& q, const Tensor& kv, std::int64_t heads, const AttentionOptions& options = {});

/// The attention weights: the softmax itself, before dropout. Costs memory of T · S; has no gradient. Of packed
/// sequences (Mask::texts), B is their number, and T and S the length of the longest.
/// q [B, T, H, D], k [B, S, KV, D] -> [B, H, T, S]
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {});
/// Those of self_attention.   -> [B, H, T, T]
Tensor self_attention_weights(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});
/// Those of cross_attention.   -> [B, H, T, S]
Tensor cross_attention_weights(const Tensor& q, const Tensor& kv, std::int64_t heads,
                               const AttentionOptions& options = {});

}  // namespace attend
