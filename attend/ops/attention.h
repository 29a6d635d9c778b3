// Scaled dot-product attention (Vaswani et al. 2017, eq. 1) as one fused kernel, which computes scores, bias, mask,
// softmax, dropout and the weighted sum of the values tile by tile. Forward and backward pass need memory proportional
// to T, not to T².
#pragma once
#include <optional>

#include "attend/core/tensor.h"
#include "attend/ops/mask.h"

namespace attend {

struct AttentionOptions {
  Mask mask = {};                   ///< which keys each query may attend to
  std::optional<float> scale = {};  ///< factor of the scores; 1 / √D if not set
  float cap = 0.f;                  ///< above 0: a scaled score s becomes cap · tanh(s / cap) (Gemma 2)
  float dropout = 0.f;              ///< on the attention weights; only inside a Training scope
  /// Added to the scaled scores, for example for relative positions (Raffel et al. 2020, section 2.1). It gets a
  /// gradient. float32 [T, S], [B, T, S] or [B, H, T, S], where B and H may be 1 for all sequences or heads. For packed
  /// sequences (Mask::packed), B is 1, T and S are at least the maximum length, and the indices are positions within
  /// each sequence.
  Tensor bias = {};
  /// Number of key and value heads in self_attention and cross_attention; must divide `heads`. 0: the same as `heads`.
  /// Query head h uses the keys and values of head h / (heads / kv_heads) (Ainslie et al. 2023, "GQA").
  std::int64_t kv_heads = 0;
};

/// softmax(scale · q kᵀ + bias + mask) v for each head.
/// q [B, T, H, D], k [B, S, KV, D], v [B, S, KV, E] -> [B, T, H, E], where the number KV of key and value heads divides
/// H. The result is zero for a query whose keys are all masked. Throws if the shapes of inputs, mask or bias do not
/// fit.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

/// attention() with q, k and v in one tensor, as a single linear layer computes them. Each row contains the heads of q,
/// then those of k, then those of v. Nothing is copied, and the gradient is one tensor too.
///   qkv [B, T, (H + 2·KV)·D] -> [B, T, H·D]
Tensor self_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});

/// attention() with keys and values in one tensor. Each row contains k, then v.
/// q [B, T, H·D], kv [B, S, 2·KV·D] -> [B, T, H·D]
Tensor cross_attention(const Tensor& q, const Tensor& kv, std::int64_t heads, const AttentionOptions& options = {});

/// The attention weights: the softmax of the scores, before dropout. Not differentiable; needs memory for T · S
/// weights. For packed sequences (Mask::packed), B is their number, and T and S are the maximum length.
/// q [B, T, H, D], k [B, S, KV, D] -> [B, H, T, S]
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {});
/// The attention weights of self_attention.   -> [B, H, T, T]
Tensor self_attention_weights(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});
/// The attention weights of cross_attention.   -> [B, H, T, S]
Tensor cross_attention_weights(const Tensor& q, const Tensor& kv, std::int64_t heads,
                               const AttentionOptions& options = {});

}  // namespace attend
