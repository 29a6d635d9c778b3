#include "attend/models/esim.h"

#include "attend/attention/pooling.h"
#include "attend/models/recurrent_common.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/reduce.h"

namespace attend {

EsimOptions EsimOptions::read(const Config& config) {
  EsimOptions o;
  read_common(config, o);
  o.match_gates = config.integer_in("match_gates", 0, bounds::kWidth, 0);
  return o;
}

void EsimOptions::write(Config& config) const {
  write_common("attend-esim", *this, config);
  config.set("match_gates", match_gates);
}

double EsimOptions::least_parameters() const {
  return static_cast<double>(vocabulary) * static_cast<double>(embedding) + 24.0 * static_cast<double>(hidden * hidden);
}

Esim::Esim(const EsimOptions& o, Generator& generator) : options(o) {
  check_labels(o.labels);
  embedding = Embedding(o.vocabulary, o.embedding, generator, kEmbeddingDeviation);
  encoder = Lstm({.input = o.embedding, .hidden = o.hidden, .bidirectional = true}, generator);
  comparison = Linear(8 * o.hidden, o.hidden, true, generator);
  composition = Lstm({.input = o.hidden, .hidden = o.hidden, .bidirectional = true}, generator);
  matches = MatchCounts(o.embedding, o.match_gates, generator);
  pooled = Linear(8 * o.hidden + MatchCounts::size(o.match_gates), o.hidden, true, generator);
  output = Linear(o.hidden, std::ssize(o.labels), true, generator);
}

Tensor Esim::logits(const ClassifierInput& input, Probe* probe) const {
  const PairBatch pair = pairs_of("esim", input);
  const float p = options.dropout;
  const auto read = [&](const PartBatch& text) { return encoder(dropout(embedding(text.ids), p), {}, text.lengths).y; };
  const Tensor a = read(pair.first), b = read(pair.second);
  // Eq. 11 to 13: what each word is aligned with in the other text.
  if (probe) probe->enter("first");
  const Tensor aligned_a = pool(Dot(), a, b, b, {.mask = Mask::keys(pair.second.lengths), .probe = probe});
  if (probe) probe->enter("second");
  const Tensor aligned_b = pool(Dot(), b, a, a, {.mask = Mask::keys(pair.first.lengths), .probe = probe});
  // Eq. 14 to 19: comparison, composition and pooling of one text.
  const auto compose = [&](const Tensor& x, const Tensor& aligned, const Tensor& lengths) {
    const Tensor compared = comparison(concat({x, aligned, x - aligned, x * aligned}, -1), Activation::relu);
    const Tensor y = composition(dropout(compared, p), {}, lengths).y;
    return concat({mean(y, lengths), max(y, lengths)}, -1);
  };
  const Tensor both =
      concat({compose(a, aligned_a, pair.first.lengths), compose(b, aligned_b, pair.second.lengths)}, -1);
  const Tensor features = matches.append(dropout(both, p), pair, embedding);
  return output(dropout(pooled(features, Activation::tanh), p));
}

}  // namespace attend
