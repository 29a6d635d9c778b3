// A pointer (See, Liu and Manning 2017): at each step of a decoder, a distribution over the tokens of the source, and a
// gate between copying one of them and generating a token of the vocabulary. attend/ops/pointer.h mixes the two.
#pragma once
#include "attend/attention/cache.h"
#include "attend/nn/linear.h"

namespace attend {

struct Pointed {
  Tensor weights;  ///< [B, T, S]: each row sums to 1
  Tensor gate;     ///< [B, T, 1]: sigmoid(gate) is the probability of generating
};

/// weights = softmax(Wq h · Wk s / √width) for the decoder's states h and the encoder's states s, with one head;
/// gate = w · [h, Σ weights s] + b.
struct Pointer {
  Linear query, key;  // [width, width], with biases
  Linear gate;        // [1, 2·width]

  Pointer() = default;
  explicit Pointer(std::int64_t width, Generator& generator = default_generator());
  bool defined() const { return query.defined(); }

  /// Teacher forcing.   states [B, T, width], source [B, S, width], lengths int32 [B]
  Pointed operator()(const Tensor& states, const Tensor& source, const Tensor& lengths) const;

  // Decoding with a cache, without gradients. `layer` is the index of the pointer in the cache of the sources.
  /// What the cache stores for each token of the source.   source [..., width] -> [..., 2·width]
  Tensor keys_values(const Tensor& source) const;
  /// One state for each sequence.   states [N, width] -> weights [N, 1, S], gate [N, 1, 1]
  Pointed over(const KeyValueCache& cache, std::size_t layer, const Tensor& states) const;

  void visit(auto&& v) { v("query", query), v("key", key), v("gate", gate); }
};

}  // namespace attend
