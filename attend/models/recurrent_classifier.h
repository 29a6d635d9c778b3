// A recurrent text classifier: embedding, GRU or LSTM in one or both directions, pooling of the states, output layer.
#pragma once
#include <string>
#include <vector>

#include "attend/attention/pooling.h"
#include "attend/formats/config.h"
#include "attend/models/model.h"
#include "attend/nn/embedding.h"
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

struct RecurrentClassifierOptions {
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
};

struct RecurrentClassifier : ModelOf<RecurrentClassifier> {
  RecurrentClassifierOptions options;
  Embedding embedding;
  Recurrent encoder;
  Score score;  // Additive for attention pooling; otherwise Uniform, which has no parameters
  Linear output;

  RecurrentClassifier() = default;
  explicit RecurrentClassifier(const RecurrentClassifierOptions& options, Generator& generator = default_generator());

  /// ids int32 [B, T], lengths int32 [B], each at least 1 -> logits [B, classes].
  /// A probe records the weights of attention pooling as the layer "pooling", [B, 1, 1, T].
  Tensor operator()(const Tensor& ids, const Tensor& lengths, Probe* probe = nullptr) const;

  Config config() const override;

  void visit(auto&& v) { v("embedding", embedding), v("encoder", encoder), v("score", score), v("output", output); }
};

}  // namespace attend
