// Multi-head attention: several small attentions side by side, each over its own projections.
#pragma once
#include <optional>
#include <span>

#include "attend/attention/cache.h"
#include "attend/attention/probe.h"
#include "attend/nn/linear.h"
#include "attend/ops/mask.h"
#include "attend/ops/rotary.h"

namespace attend {

struct MultiHeadOptions {
  std::int64_t width = 0;       ///< of the result, and of the inputs unless given below
  std::int64_t heads = 1;       ///< of queries
  std::int64_t kv_heads = 0;    ///< of keys and values, which divide `heads` (Ainslie et al. 2023); 0: as many
  std::int64_t head_dim = 0;    ///< of each head; 0: width / heads, which must divide
  std::int64_t query_size = 0;  ///< of the inputs; 0 stands for the width
  std::int64_t key_size = 0;
  std::int64_t value_size = 0;
  bool bias = true;                 ///< in all four projections
  std::optional<float> scale = {};  ///< of the scores; 1 / √head_dim unless given
  float dropout = 0.f;              ///< of the attention weights, in training
  bool additive = false;            ///< heads score by v · tanh(q + k) instead of q · k · scale
};

/// What a pass through attention needs beside its inputs.
struct AttentionPass {
  Mask mask = {};
  Tensor bias = {};       ///< added to the scores: as AttentionOptions has it, with a cache as CachedHeads
  Tensor positions = {};  ///< with rotary positions and a cache: int32, of each row of x
  Probe* probe = nullptr;
};

/// output(concat_h softmax(score(Wq_h q, Wk_h k)) Wv_h v)   (Vaswani et al. 2017, section 3.2.2)
/// Self-attention passes one tensor three times, cross-attention the encoder's states as keys and values.
struct MultiHeadAttention {
  Linear query, key, value, output;
  Tensor additive_v;   // [H, head_dim], or undefined for scaled dot products
  RotaryTable rotary;  // of queries and keys in self-attention; may be undefined
  std::int64_t heads = 1, kv_heads = 1;
  std::optional<float> scale = {};
  float dropout = 0.f;

  MultiHeadAttention() = default;
  /// Projections start by Xavier's rule, biases at 0. Throws when the heads do not divide the width.
  explicit MultiHeadAttention(const MultiHeadOptions& options, Generator& generator = default_generator());

  bool defined() const { return query.defined(); }

  /// q [B, T, query_size], k [B, S, key_size], v [B, S, value_size] -> [B, T, width]
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionPass& pass) const;
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {},
                    Probe* probe = nullptr) const {
    return (*this)(q, k, v, AttentionPass{.mask = mask, .probe = probe});
  }

  // Decoding with a cache, without gradients and masks. `layer` is the cache's.
  /// What a cache keeps of its input.   x [..., key_size] -> [..., keys and then values]
  Tensor keys_values(const Tensor& x) const;
  /// Causal self-attention of whole sequences, packed without padding; the cache keeps their keys and values.
  ///   x [sum of lengths, width] -> [sum of lengths, width]
  Tensor begin(KeyValueCache& cache, std::size_t layer, const Tensor& x, std::span<const std::int64_t> lengths,
               const AttentionPass& pass) const;
  /// Self-attention of one more token for each row: the cache gets its keys and values.   x [N, width] -> [N, width]
  Tensor step(KeyValueCache& cache, std::size_t layer, const Tensor& x, const AttentionPass& pass) const;
  /// One query for each row over what the cache has already.   q [N, query_size] -> [N, width]
  Tensor over(const KeyValueCache& cache, std::size_t layer, const Tensor& q, const AttentionPass& pass) const;

  void visit(auto&& v) {
    v("query", query), v("key", key), v("value", value), v("output", output), v("additive_v", additive_v);
  }

 private:
  std::int64_t head_dim() const { return query.out() / heads; }
  Tensor rotated(Tensor x, std::int64_t heads_to_rotate, const Tensor& positions) const;
};

/// Moves the projections with the same input next to each other in memory, so that they are one product. The
/// constructor does so; a model whose weights come from elsewhere does it after that.
void place_neighbours(MultiHeadAttention& attention);

}  // namespace attend
