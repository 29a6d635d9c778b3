// ESIM, enhanced sequential inference (Chen et al. 2017): classifies a pair of texts. Both are read by a bidirectional
// LSTM, the states of each are aligned with those of the other by attention, and a second LSTM reads the comparisons.
#pragma once
#include <string>
#include <vector>

#include "attend/models/text_classifier.h"
#include "attend/nn/recurrent.h"

namespace attend {

struct Esim;

struct EsimOptions {
  using Network = Esim;

  std::int64_t vocabulary = 0;
  std::vector<std::string> labels = {};
  std::int64_t embedding = 100;
  std::int64_t hidden = 150;
  float dropout = 0.5f;           ///< on the embeddings, the comparisons and the pooled vector
  std::int64_t match_gates = 16;  ///< see MatchCounts; 0: none

  static EsimOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
  double least_parameters() const;
};

struct Esim : TextClassifierOf<Esim> {
  EsimOptions options;
  Embedding embedding;
  Lstm encoder;
  Linear comparison;  // [hidden, 8 · hidden]
  Lstm composition;
  MatchCounts matches;
  Linear pooled;  // [hidden, 8 · hidden and the counts]
  Linear output;

  Esim() = default;
  explicit Esim(const EsimOptions& options, Generator& generator = default_generator());

  TextParts parts() const override { return TextParts::pair; }
  /// A probe records the layers "first" [B, 1, T, S], the weights of each word of the first text over the words of the
  /// second, and "second" [B, 1, S, T].
  Tensor logits(const ClassifierInput& input, Probe* probe = nullptr) const override;

  void visit(auto&& v) {
    v("embedding", embedding), v("encoder", encoder), v("comparison", comparison), v("composition", composition);
    v("matches", matches), v("pooled", pooled), v("output", output);
  }
};

}  // namespace attend
