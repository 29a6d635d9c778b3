#include "attend/attention/multi_head.h"

#include "attend/core/error.h"
#include "attend/ops/additive_scores.h"
#include "attend/ops/attention.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/matmul.h"
#include "attend/ops/softmax.h"
#include "attend/ops/transpose.h"

namespace attend {
namespace {

Linear projection(std::int64_t in, std::int64_t out, bool bias, Generator& generator) {
  Linear layer(in, out, bias, generator);
  init::xavier_uniform(layer.weight, 1.f, generator);
  if (bias) layer.bias.fill(0.f);
  return layer;
}

/// Each head's scores by its own v.   q [B, T, H·D], k [B, S, H·D], v [H, D] -> [B, H, T, S]
Tensor additive_head_scores(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto H = static_cast<int>(v.dim(0));
  const std::vector<Tensor> queries = split(q, H, 2), keys = split(k, H, 2), vs = split(v, H, 0);
  std::vector<Tensor> scores;
  for (std::size_t h = 0; h < queries.size(); ++h)
    scores.push_back(
        additive_scores(queries[h], keys[h], vs[h].reshape({-1})).reshape({q.dim(0), 1, q.dim(1), k.dim(1)}));
  return concat(scores, 1);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& o, Generator& generator)
    : heads(o.heads), dropout(o.dropout) {
  if (o.heads < 1 || o.width < 1 || o.width % o.heads != 0)
    fail("multi_head", "the heads must divide the width: got ", o.heads, " heads and width ", o.width);
  auto size = [&](std::int64_t asked) { return asked > 0 ? asked : o.width; };
  query = projection(size(o.query_size), o.width, o.bias, generator);
  key = projection(size(o.key_size), o.width, o.bias, generator);
  value = projection(size(o.value_size), o.width, o.bias, generator);
  output = projection(o.width, o.width, o.bias, generator);
  if (!o.additive) return;
  additive_v = Tensor::empty({o.heads, o.width / o.heads});
  init::uniform_fan_in(additive_v, o.width / o.heads, generator);
}

Tensor MultiHeadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask,
                                      Probe* probe) const {
  const Tensor queries = query(q), keys = key(k), values = value(v);
  const std::int64_t D = query.weight.dim(0) / heads;
  auto by_head = [&](const Tensor& x) { return x.reshape({x.dim(0), x.dim(1), heads, D}); };

  Tensor context;  // [B, T, H, D]
  if (!additive_v.defined()) {
    const AttentionOptions options{.mask = mask, .dropout = dropout};
    context = attention(by_head(queries), by_head(keys), by_head(values), options);
    if (probe) probe->record(attention_weights(by_head(queries), by_head(keys), options));
  } else {
    const Tensor weights = masked_softmax(additive_head_scores(queries, keys, additive_v), mask);
    if (probe) probe->record(weights);
    context = transpose(matmul(attend::dropout(weights, dropout), transpose(by_head(values), 1, 2)), 1, 2);
  }
  return output(context.reshape({q.dim(0), q.dim(1), heads * D}));
}

}  // namespace attend
