// Decomposable attention (Parikh et al. 2016): classifies a pair of texts by aligning their words. Each word is
// compared with the words of the other text that it attends to, and the comparisons are added up. The order of the
// words does not matter.
#pragma once
#include <string>
#include <vector>

#include "attend/models/text_classifier.h"

namespace attend {

struct DecomposableAttention;

struct DecomposableAttentionOptions {
  using Network = DecomposableAttention;

  std::int64_t vocabulary = 0;
  std::vector<std::string> labels = {};
  std::int64_t embedding = 100;
  std::int64_t hidden = 200;
  float dropout = 0.2f;           ///< before each layer
  std::int64_t match_gates = 16;  ///< see MatchCounts; 0: none

  static DecomposableAttentionOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
  double least_parameters() const;
};

/// Two layers with ReLU, and dropout between them.
struct Comparison {
  Linear first, second;

  Comparison() = default;
  Comparison(std::int64_t in, std::int64_t hidden, Generator& generator)
      : first(in, hidden, true, generator), second(hidden, hidden, true, generator) {}
  Tensor operator()(const Tensor& x, float dropout) const;  ///< [..., in] -> [..., hidden]
  void visit(auto&& v) { v("first", first), v("second", second); }
};

struct DecomposableAttention : TextClassifierOf<DecomposableAttention> {
  DecomposableAttentionOptions options;
  Embedding embedding;
  Linear projection;  // of the word vectors, without bias
  Comparison attend, compare, aggregate;
  MatchCounts matches;
  Linear output;

  DecomposableAttention() = default;
  explicit DecomposableAttention(const DecomposableAttentionOptions& options,
                                 Generator& generator = default_generator());

  TextParts parts() const override { return TextParts::pair; }
  /// A probe records the layers "first" [B, 1, T, S], the weights of each word of the first text over the words of the
  /// second, and "second" [B, 1, S, T].
  Tensor logits(const ClassifierInput& input, Probe* probe = nullptr) const override;

  void visit(auto&& v) {
    v("embedding", embedding), v("projection", projection), v("attend", attend), v("compare", compare);
    v("matches", matches), v("aggregate", aggregate), v("output", output);
  }
};

}  // namespace attend
