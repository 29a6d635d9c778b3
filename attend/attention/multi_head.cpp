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

/// The additive scores of every head, each with its own v.   q [B, T, H·D], k [B, S, H·D], v [H, D] -> [B, H, T, S]
Tensor additive_head_scores(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto H = static_cast<int>(v.dim(0));
  const std::vector<Tensor> queries = split(q, H, 2), keys = split(k, H, 2), vs = split(v, H, 0);
  std::vector<Tensor> scores;
  for (std::size_t h = 0; h < queries.size(); ++h)
    scores.push_back(
        additive_scores(queries[h], keys[h], vs[h].reshape({-1})).reshape({q.dim(0), 1, q.dim(1), k.dim(1)}));
  return concat(scores, 1);
}

/// Whether two tensors share their elements and their node on the tape.
bool same(const Tensor& a, const Tensor& b) {
  return a.raw() == b.raw() && a.shape() == b.shape() && a.node() == b.node() && a.node_output() == b.node_output();
}

/// The position of each of the B·T tokens in its sequence.
Tensor positions_of(const Mask& mask, std::int64_t B, std::int64_t T) {
  std::vector<std::int32_t> positions;
  if (!mask.packed_lengths().empty()) {
    for (const std::int64_t length : mask.packed_lengths())
      for (std::int64_t t = 0; t < length; ++t) positions.push_back(static_cast<std::int32_t>(t));
  } else {
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t t = 0; t < T; ++t) positions.push_back(static_cast<std::int32_t>(t));
  }
  return Tensor::ids(positions, {std::ssize(positions)});
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& o, Generator& generator)
    : heads(o.heads), kv_heads(o.kv_heads > 0 ? o.kv_heads : o.heads), scale(o.scale), dropout(o.dropout) {
  if (o.heads < 1 || o.width < 1 || (o.head_dim == 0 && o.width % o.heads != 0))
    fail("multi_head", "the heads must divide the width: got ", o.heads, " heads and width ", o.width);
  if (kv_heads < 1 || heads % kv_heads != 0 || (o.additive && kv_heads != heads))
    fail("multi_head", "the number of key and value heads must divide the number of query heads: got ", kv_heads,
         " and ", heads);
  const auto size = [&](std::int64_t given) { return given > 0 ? given : o.width; };
  const std::int64_t D = o.head_dim > 0 ? o.head_dim : o.width / o.heads, inner = heads * D;
  query = projection(size(o.query_size), inner, o.bias, generator);
  key = projection(size(o.key_size), kv_heads * D, o.bias, generator);
  value = projection(size(o.value_size), kv_heads * D, o.bias, generator);
  if (!init::skipped()) place_neighbours(*this);
  output = projection(inner, o.width, o.bias, generator);
  if (!o.additive) return;
  additive_v = Tensor::empty({heads, D});
  init::uniform_fan_in(additive_v, D, generator);
}

void place_neighbours(MultiHeadAttention& attention) {
  Linear &query = attention.query, &key = attention.key, &value = attention.value;
  if (key.in() != value.in()) return;
  if (query.in() == key.in())
    place_together(std::vector{&query, &key, &value});
  else
    place_together(std::vector{&key, &value});
}

/// Normalises each head of x [..., heads · head_dim].
Tensor MultiHeadAttention::norm_heads(const Tensor& x, const Norm& norm) const {
  return norm.defined() ? norm(x.reshape({-1, head_dim()})).reshape(x.shape()) : x;
}

Tensor MultiHeadAttention::rotated(Tensor x, std::int64_t heads_to_rotate, const AttentionPass& pass) const {
  const RotaryTable& table = pass.rotary.defined() ? pass.rotary : rotary;
  if (!table.defined()) return x;
  return rotate_heads(std::move(x), heads_to_rotate, head_dim(), pass.positions, table);
}

Tensor MultiHeadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionPass& pass) const {
  const std::int64_t D = head_dim();
  const AttentionOptions options{
      .mask = pass.mask, .scale = scale, .cap = cap, .dropout = dropout, .bias = pass.bias, .kv_heads = kv_heads};
  const auto by_head = [&](const Tensor& x) { return x.reshape({x.dim(0), x.dim(1), x.dim(2) / D, D}); };
  if (additive_v.defined()) {
    const Tensor weights = masked_softmax(additive_head_scores(query(q), key(k), additive_v), pass.mask);
    if (pass.probe) pass.probe->record(weights);
    const Tensor values = transpose(by_head(value(v)), 1, 2);
    const Tensor context = transpose(matmul(attend::dropout(weights, dropout), values), 1, 2);
    return output(context.reshape({q.dim(0), q.dim(1), heads * D}));
  }
  if (same(k, v) && same(q, k)) {
    Tensor qkv = query_norm.defined()
                     ? concat({norm_heads(query(q), query_norm), norm_heads(key(q), key_norm), value(q)}, 2)
                     : linear_together(q, std::vector{&query, &key, &value});
    if (rotary.defined() || pass.rotary.defined()) {
      AttentionPass placed = pass;
      placed.positions = positions_of(pass.mask, q.dim(0), q.dim(1));
      qkv = rotated(std::move(qkv), heads + kv_heads, placed);
    }
    if (pass.probe) pass.probe->record(self_attention_weights(qkv, heads, options));
    return output(self_attention(qkv, heads, options));
  }
  if (rotary.defined()) fail("multi_head", "rotary positions need self-attention: got different queries and keys");
  const Tensor queries = query(q);
  if (same(k, v)) {
    const Tensor kv = keys_values(k);
    if (pass.probe) pass.probe->record(cross_attention_weights(queries, kv, heads, options));
    return output(cross_attention(queries, kv, heads, options));
  }
  const Tensor keys = key(k), values = value(v);
  if (pass.probe) pass.probe->record(attention_weights(by_head(queries), by_head(keys), options));
  const Tensor context = attention(by_head(queries), by_head(keys), by_head(values), options);
  return output(context.reshape({q.dim(0), q.dim(1), heads * D}));
}

Tensor MultiHeadAttention::keys_values(const Tensor& x) const {
  if (additive_v.defined()) fail("multi_head", "additive attention does not support a cache");
  return linear_together(x, std::vector{&key, &value});
}

/// The keys and values of self-attention.
Tensor MultiHeadAttention::own_keys_values(const Tensor& x, const AttentionPass& pass) const {
  return rotated(key_norm.defined() ? concat({norm_heads(key(x), key_norm), value(x)}, -1) : keys_values(x), kv_heads,
                 pass);
}

CachedHeads MultiHeadAttention::cached(const AttentionPass& pass) const {
  return {.heads = heads,
          .scale = scale,
          .probe = pass.probe,
          .kv_heads = kv_heads,
          .bias = pass.bias,
          .cap = cap,
          .window = pass.mask.window_distance()};
}

Tensor MultiHeadAttention::begin(KeyValueCache& cache, std::size_t layer, const Tensor& x,
                                 std::span<const std::int64_t> lengths, const AttentionPass& pass) const {
  return output(cache.begin(layer, rotated(norm_heads(query(x), query_norm), heads, pass), own_keys_values(x, pass),
                            lengths, cached(pass)));
}

Tensor MultiHeadAttention::step(KeyValueCache& cache, std::size_t layer, const Tensor& x,
                                const AttentionPass& pass) const {
  if (query_norm.defined() || key_norm.defined() || additive_v.defined()) {
    cache.append(layer, own_keys_values(x, pass));
    return over(cache, layer, x, pass);
  }
  const std::vector<const Linear*> groups[] = {{&query}, {&key, &value}};
  std::vector<Tensor> projected = linear_groups(x, groups);
  cache.append(layer, rotated(std::move(projected[1]), kv_heads, pass));
  return output(cache.attend(layer, rotated(std::move(projected[0]), heads, pass), cached(pass)));
}

Tensor MultiHeadAttention::over(const KeyValueCache& cache, std::size_t layer, const Tensor& q,
                                const AttentionPass& pass) const {
  return output(cache.attend(layer, rotated(norm_heads(query(q), query_norm), heads, pass), cached(pass)));
}

}  // namespace attend
