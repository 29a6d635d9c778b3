#include "attend/models/recurrent_classifier.h"

#include "attend/models/bounds.h"
#include "attend/models/recurrent_common.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/reduce.h"

namespace attend {
const std::vector<std::pair<std::string, StatePooling>> kStatePoolingNames = {{"last", StatePooling::last},
                                                                              {"mean", StatePooling::mean},
                                                                              {"max", StatePooling::max},
                                                                              {"attention", StatePooling::attention}};

RecurrentClassifierOptions RecurrentClassifierOptions::read(const Config& config) {
  RecurrentClassifierOptions o;
  read_common(config, o);
  o.layers = static_cast<int>(config.integer_in("layers", 1, bounds::kLayers));
  o.cell = config.choice("cell", kCellNames);
  o.bidirectional = config.flag("bidirectional");
  o.pooling = config.choice("pooling", kStatePoolingNames);
  return o;
}

void RecurrentClassifierOptions::write(Config& config) const {
  write_common("attend-recurrent-classifier", *this, config);
  config.set("layers", layers);
  config.set("cell", name_of(cell, kCellNames));
  config.set("bidirectional", bidirectional);
  config.set("pooling", name_of(pooling, kStatePoolingNames));
}

/// The embeddings, and a square matrix of each layer.
double RecurrentClassifierOptions::least_parameters() const {
  return static_cast<double>(vocabulary) * static_cast<double>(embedding) +
         static_cast<double>(layers) * static_cast<double>(hidden * hidden);
}

RecurrentClassifier::RecurrentClassifier(const RecurrentClassifierOptions& o, Generator& generator)
    : options(o), score(Uniform()) {
  check_labels(o.labels);
  embedding = Embedding(o.vocabulary, o.embedding, generator, kEmbeddingDeviation);
  encoder = Recurrent(o.cell,
                      {.input = o.embedding,
                       .hidden = o.hidden,
                       .layers = o.layers,
                       .bidirectional = o.bidirectional,
                       .dropout = o.dropout},
                      generator);
  const std::int64_t width = o.hidden * (o.bidirectional ? 2 : 1);
  if (o.pooling == StatePooling::attention) score = Additive(width, width, o.hidden, generator);
  output = Linear(width, static_cast<std::int64_t>(o.labels.size()), true, generator);
}

void RecurrentClassifier::set_dropout(float dropout) { options.dropout = encoder.options.dropout = dropout; }

Tensor RecurrentClassifier::logits(const ClassifierInput& input, Probe* probe) const {
  const auto& [ids, lengths, parts] = input;
  const RecurrentOutput read = encoder(dropout(embedding(ids), options.dropout), {}, lengths);
  const std::int64_t B = ids.dim(0), width = read.y.dim(2);
  const auto last = [&] {
    const std::size_t top = read.state.h.size();
    return options.bidirectional ? concat({read.state.h[top - 2], read.state.h[top - 1]}, -1) : read.state.h[top - 1];
  };
  Tensor pooled;
  switch (options.pooling) {
    case StatePooling::last:
      pooled = last();
      break;
    case StatePooling::mean:
      pooled = mean(read.y, lengths);
      break;
    case StatePooling::max:
      pooled = max(read.y, lengths);
      break;
    case StatePooling::attention:
      if (probe) probe->enter("pooling");
      pooled = pool(score, last().reshape({B, 1, width}), read.y, read.y, {.mask = Mask::keys(lengths), .probe = probe})
                   .reshape({B, width});
      break;
  }
  return output(dropout(pooled, options.dropout));
}

}  // namespace attend
