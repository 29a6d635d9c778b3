// A recurrent text classifier: embedding, GRU or LSTM in one or both directions, pooling of the states, output layer.
#pragma once
#include <string>
#include <vector>

#include "attend/attention/pooling.h"
#include "attend/models/text_classifier.h"
#include "attend/nn/recurrent.h"

namespace attend {

/// How the states of all tokens are pooled to one vector.
enum class StatePooling : std::uint8_t {
  last,       ///< the last state of each direction
  mean,       ///< the mean over all tokens
  max,        ///< the maximum of each component
  attention,  ///< additive attention with the last state as query
};

extern const std::vector<std::pair<std::string, StatePooling>> kStatePoolingNames;

struct RecurrentClassifier;

struct RecurrentClassifierOptions {
  using Network = RecurrentClassifier;

  std::int64_t vocabulary = 0;
  std::vector<std::string> labels = {};  ///< the names of the classes
  std::int64_t embedding = 128;
  std::int64_t hidden = 128;
  int layers = 1;
  kernels::Cell cell = kernels::Cell::gru;
  bool bidirectional = true;
  StatePooling pooling = StatePooling::attention;
  float dropout = 0.5f;  ///< on the embeddings, between layers, and on the pooled vector

  static RecurrentClassifierOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
  double least_parameters() const;
};

struct RecurrentClassifier : TextClassifierOf<RecurrentClassifier> {
  RecurrentClassifierOptions options;
  Embedding embedding;
  Recurrent encoder;
  Score score;  // Additive for attention pooling; otherwise Uniform, which has no parameters
  Linear output;

  RecurrentClassifier() = default;
  explicit RecurrentClassifier(const RecurrentClassifierOptions& options, Generator& generator = default_generator());

  bool attends() const override { return options.pooling == StatePooling::attention; }
  void set_dropout(float dropout) override;
  /// A probe records the weights of attention pooling as the layer "pooling", [B, 1, 1, T].
  Tensor logits(const ClassifierInput& input, Probe* probe = nullptr) const override;

  void visit(auto&& v) { v("embedding", embedding), v("encoder", encoder), v("score", score), v("output", output); }
};

}  // namespace attend
