// Multi-head attention: several small attentions side by side, each over its own projections.
#pragma once
#include "attend/attention/cache.h"
#include "attend/attention/probe.h"
#include "attend/nn/linear.h"
#include "attend/ops/mask.h"

namespace attend {

struct MultiHeadOptions {
  std::int64_t width = 0;       ///< of the result, and of all heads together
  std::int64_t heads = 1;       ///< must divide the width
  std::int64_t query_size = 0;  ///< of the inputs; 0 stands for the width
  std::int64_t key_size = 0;
  std::int64_t value_size = 0;
  bool bias = true;       ///< in all four projections
  float dropout = 0.f;    ///< of the weights, in training
  bool additive = false;  ///< heads score by v · tanh(q + k) instead of q · k / √D
};

/// output(concat_h softmax(score(Wq_h q, Wk_h k)) Wv_h v)   (Vaswani et al. 2017, section 3.2.2)
/// Self-attention passes one tensor three times, cross-attention the encoder's states as keys and values.
struct MultiHeadAttention {
  Linear query, key, value, output;
  Tensor additive_v;  // [H, width / H], or undefined for scaled dot products
  std::int64_t heads = 1;
  float dropout = 0.f;

  MultiHeadAttention() = default;
  /// Projections start by Xavier's rule, biases at 0. Throws when the heads do not divide the width.
  explicit MultiHeadAttention(const MultiHeadOptions& options, Generator& generator = default_generator());

  /// q [B, T, query_size], k [B, S, key_size], v [B, S, value_size] -> [B, T, width]
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {},
                    Probe* probe = nullptr) const;

  /// What a cache holds of a source, or of a step.   x [..., key_size] -> [..., 2·width], keys and then values
  Tensor keys_values(const Tensor& x) const;
  /// One query a row over what the cache has in a layer, without gradients.   q [N, query_size] -> [N, width]
  Tensor over(const KeyValueCache& cache, std::size_t layer, const Tensor& q, Probe* probe = nullptr) const;

  void visit(auto&& v) {
    v("query", query), v("key", key), v("value", value), v("output", output), v("additive_v", additive_v);
  }
};

/// Moves the projections that read the same input next to each other in memory, so that they are one product. The
/// constructor does so; a model whose weights come from elsewhere does it after that.
void place_neighbours(MultiHeadAttention& attention);

}  // namespace attend
