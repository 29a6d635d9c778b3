#include "attend/models/decomposable_attention.h"

#include "attend/attention/pooling.h"
#include "attend/models/recurrent_common.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/reduce.h"

namespace attend {

DecomposableAttentionOptions DecomposableAttentionOptions::read(const Config& config) {
  DecomposableAttentionOptions o;
  read_common(config, o);
  o.match_gates = config.integer_in("match_gates", 0, bounds::kWidth, 0);
  return o;
}

void DecomposableAttentionOptions::write(Config& config) const {
  write_common("attend-decomposable-attention", *this, config);
  config.set("match_gates", match_gates);
}

double DecomposableAttentionOptions::least_parameters() const {
  return static_cast<double>(vocabulary) * static_cast<double>(embedding) + 8.0 * static_cast<double>(hidden * hidden);
}

Tensor Comparison::operator()(const Tensor& x, float p) const {
  return second(dropout(first(x, Activation::relu), p), Activation::relu);
}

DecomposableAttention::DecomposableAttention(const DecomposableAttentionOptions& o, Generator& generator) : options(o) {
  check_labels(o.labels);
  embedding = Embedding(o.vocabulary, o.embedding, generator, kEmbeddingDeviation);
  projection = Linear(o.embedding, o.hidden, false, generator);
  attend = Comparison(o.hidden, o.hidden, generator);
  compare = Comparison(2 * o.hidden, o.hidden, generator);
  matches = MatchCounts(o.embedding, o.match_gates, generator);
  aggregate = Comparison(2 * o.hidden + MatchCounts::size(o.match_gates), o.hidden, generator);
  output = Linear(o.hidden, std::ssize(o.labels), true, generator);
}

Tensor DecomposableAttention::logits(const ClassifierInput& input, Probe* probe) const {
  const PairBatch pair = pairs_of("decomposable attention", input);
  const float p = options.dropout;
  const Tensor a = projection(embedding(pair.first.ids)), b = projection(embedding(pair.second.ids));
  const Tensor seen_a = attend(dropout(a, p), p), seen_b = attend(dropout(b, p), p);
  // Section 3.1: the words of the other text that each word is aligned with.
  if (probe) probe->enter("first");
  const Tensor beta = pool(Dot(), seen_a, seen_b, b, {.mask = Mask::keys(pair.second.lengths), .probe = probe});
  if (probe) probe->enter("second");
  const Tensor alpha = pool(Dot(), seen_b, seen_a, a, {.mask = Mask::keys(pair.first.lengths), .probe = probe});
  // Sections 3.2 and 3.3.
  const Tensor first = sum(compare(dropout(concat({a, beta}, -1), p), p), pair.first.lengths);
  const Tensor second = sum(compare(dropout(concat({b, alpha}, -1), p), p), pair.second.lengths);
  const Tensor features = matches.append(dropout(concat({first, second}, -1), p), pair, embedding);
  return output(dropout(aggregate(features, p), p));
}

}  // namespace attend
