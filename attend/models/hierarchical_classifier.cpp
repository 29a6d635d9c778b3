#include "attend/models/hierarchical_classifier.h"

#include "attend/attention/pooling.h"
#include "attend/attention/positions.h"
#include "attend/models/bounds.h"
#include "attend/models/recurrent_common.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding.h"

namespace attend {
namespace {

constexpr BlockNames kReaderNames = {
    .self = {"attention.query", "attention.key", "attention.value", "attention.output", "attention_norm"},
    .up = "up",
    .down = "down",
    .feed_forward_norm = "feed_forward_norm"};

}  // namespace

HierarchicalClassifierOptions HierarchicalClassifierOptions::read(const Config& config) {
  HierarchicalClassifierOptions o;
  read_common(config, o);
  o.transformer = config.flag("transformer");
  o.layers = config.integer_in("layers", 1, bounds::kLayers);
  o.heads = o.transformer ? config.divisor("heads", 2 * o.hidden) : config.integer_in("heads", 1, bounds::kWidth);
  o.max_words = config.integer_in("max_words", 1, bounds::kPositions);
  return o;
}

void HierarchicalClassifierOptions::write(Config& config) const {
  write_common("attend-hierarchical-classifier", *this, config);
  config.set("transformer", transformer);
  config.set("layers", layers);
  config.set("heads", heads);
  config.set("max_words", max_words);
}

double HierarchicalClassifierOptions::least_parameters() const {
  return static_cast<double>(vocabulary) * static_cast<double>(embedding) +
         static_cast<double>(transformer ? layers : 1) * static_cast<double>(hidden * hidden);
}

AttentiveReader::AttentiveReader(std::int64_t in, const HierarchicalClassifierOptions& o, Generator& generator) {
  const std::int64_t width = 2 * o.hidden;
  if (o.transformer) {
    input = Linear(in, width, true, generator);
    const BlockOptions block{.width = width,
                             .heads = o.heads,
                             .inner = 4 * width,
                             .activation = Activation::gelu,
                             .pre_norm = true,
                             .dropout = o.dropout,
                             .attention_dropout = o.dropout};
    for (std::int64_t i = 0; i < o.layers; ++i) stack.blocks.emplace_back(block, kReaderNames, generator);
    stack.final_norm = Norm(width);
  } else {
    recurrent = Gru({.input = in, .hidden = o.hidden, .bidirectional = true}, generator);
  }
  key = Linear(width, width, true, generator);
  query = Tensor::empty({1, width});
  init::normal(query, kEmbeddingDeviation, generator);
}

Tensor AttentiveReader::operator()(const Tensor& x, const Tensor& lengths, Probe* probe) const {
  const std::int64_t N = x.dim(0), T = x.dim(1);
  Tensor states;
  if (input.defined()) {
    states = input(x);
    states = stack(states + sinusoidal_positions(T, states.dim(2)), {.mask = Mask::keys(lengths)});
  } else {
    states = recurrent(x, {}, lengths).y;
  }
  const Tensor queries = embedding(query, Tensor::zeros({N, 1}, DType::i32));  // [N, 1, width]
  const Tensor pooled =
      pool(Dot(), queries, key(states, Activation::tanh), states, {.mask = Mask::keys(lengths), .probe = probe});
  return pooled.reshape({N, pooled.dim(2)});
}

HierarchicalClassifier::HierarchicalClassifier(const HierarchicalClassifierOptions& o, Generator& generator)
    : options(o) {
  check_labels(o.labels);
  embedding = Embedding(o.vocabulary, o.embedding, generator, kEmbeddingDeviation);
  words_reader = AttentiveReader(o.embedding, o, generator);
  sentences_reader = AttentiveReader(2 * o.hidden, o, generator);
  output = Linear(2 * o.hidden, std::ssize(o.labels), true, generator);
}

void HierarchicalClassifier::set_dropout(float dropout) {
  options.dropout = dropout;
  words_reader.stack.set_dropout(dropout, dropout);
  sentences_reader.stack.set_dropout(dropout, dropout);
}

Tensor HierarchicalClassifier::logits(const ClassifierInput& input, Probe* probe) const {
  const SentenceBatch batch = sentences_of("hierarchical classifier", input, !probe);
  if (probe) probe->enter("words");
  std::vector<Tensor> sentences;  // [N, width] in all
  for (const PartBatch& group : batch.groups)
    sentences.push_back(words_reader(dropout(embedding(group.ids), options.dropout), group.lengths, probe));
  const Tensor all = attend::embedding(concat(sentences, 0), batch.rows);  // [B, S, width]
  if (probe) probe->enter("sentences");
  return output(dropout(sentences_reader(dropout(all, options.dropout), batch.counts, probe), options.dropout));
}

}  // namespace attend
