// Multi-head attention: several attention heads in parallel, each with its own projections of queries, keys and values.
#pragma once
#include <optional>
#include <span>

#include "attend/attention/cache.h"
#include "attend/attention/probe.h"
#include "attend/nn/linear.h"
#include "attend/nn/norm.h"
#include "attend/ops/mask.h"
#include "attend/ops/rotary.h"

namespace attend {

struct MultiHeadOptions {
  std::int64_t width = 0;       ///< of the output, and of the inputs if their sizes are not set
  std::int64_t heads = 1;       ///< number of query heads
  std::int64_t kv_heads = 0;    ///< number of key and value heads; divides `heads` (Ainslie et al. 2023). 0: the same
  std::int64_t head_dim = 0;    ///< size of a head; 0: width / heads, which must be an integer
  std::int64_t query_size = 0;  ///< sizes of the inputs; 0: width
  std::int64_t key_size = 0;
  std::int64_t value_size = 0;
  bool bias = true;                 ///< in all four projections
  std::optional<float> scale = {};  ///< scale of the scores; 1 / √head_dim if not set
  float dropout = 0.f;              ///< on the attention weights, in training
  bool additive = false;            ///< the score is v · tanh(q + k) instead of q · k · scale
};

/// Arguments of a forward pass besides queries, keys and values.
struct AttentionPass {
  /// With a cache, the causal mask is implied, and of this mask only the window is used.
  Mask mask = {};
  Tensor bias = {};         ///< added to the scores; see AttentionOptions::bias, or CachedHeads::bias with a cache
  Tensor positions = {};    ///< for rotary positions with a cache: int32, one for each row of x
  RotaryTable rotary = {};  ///< used instead of the table of the layer, if it is defined
  Probe* probe = nullptr;
};

/// output(concat_h softmax(score(Wq_h q, Wk_h k)) Wv_h v)   (Vaswani et al. 2017, section 3.2.2)
/// For self-attention, pass the same tensor three times. For cross-attention, pass the encoder's states as keys and
/// values.
struct MultiHeadAttention {
  Linear query, key, value, output;
  Tensor additive_v;          // [H, head_dim], or undefined for scaled dot products
  RotaryTable rotary;         // rotary positions for self-attention, or undefined
  Norm query_norm, key_norm;  // of each head [head_dim] in self-attention, before the rotation; or undefined
  std::int64_t heads = 1, kv_heads = 1;
  std::optional<float> scale = {};
  float cap = 0.f;  // of the scores, see AttentionOptions
  float dropout = 0.f;

  MultiHeadAttention() = default;
  /// The weights get Xavier uniform initialisation, the biases are 0. Throws if the heads do not divide the width.
  explicit MultiHeadAttention(const MultiHeadOptions& options, Generator& generator = default_generator());

  bool defined() const { return query.defined(); }

  /// q [B, T, query_size], k [B, S, key_size], v [B, S, value_size] -> [B, T, width]
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionPass& pass) const;
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {},
                    Probe* probe = nullptr) const {
    return (*this)(q, k, v, AttentionPass{.mask = mask, .probe = probe});
  }

  // Decoding with a cache, without gradients and masks. `layer` is the index of this layer in the cache.
  /// The keys and values that a cache stores, the keys first.   x [..., key_size] -> [..., 2·KV·D]
  Tensor keys_values(const Tensor& x) const;
  /// Causal self-attention of whole prompts. Fills an empty layer of the cache. The prompts are packed sequences of the
  /// given lengths.   x [sum of lengths, width] -> [sum of lengths, width]
  Tensor begin(KeyValueCache& cache, std::size_t layer, const Tensor& x, std::span<const std::int64_t> lengths,
               const AttentionPass& pass) const;
  /// Self-attention of one new token for each sequence. Appends its keys and values to the cache.
  ///   x [N, width] -> [N, width]
  Tensor step(KeyValueCache& cache, std::size_t layer, const Tensor& x, const AttentionPass& pass) const;
  /// Attention of one query for each sequence over the cache, for example cross-attention. The cache does not change.
  ///   q [N, query_size] -> [N, width]
  Tensor over(const KeyValueCache& cache, std::size_t layer, const Tensor& q, const AttentionPass& pass) const;

  void visit(auto&& v) {
    v("query", query), v("key", key), v("value", value), v("output", output), v("additive_v", additive_v);
  }

 private:
  std::int64_t head_dim() const { return query.out() / heads; }
  Tensor norm_heads(const Tensor& x, const Norm& norm) const;
  Tensor rotated(Tensor x, std::int64_t heads_to_rotate, const AttentionPass& pass) const;
  Tensor own_keys_values(const Tensor& x, const AttentionPass& pass) const;
  CachedHeads cached(const AttentionPass& pass) const;
};

/// Makes the weights of projections with the same input contiguous in memory, so that they are computed as one matrix
/// product. The constructor calls this. Call it again after the weights have been replaced, for example by loading
/// them.
void place_neighbours(MultiHeadAttention& attention);

}  // namespace attend
