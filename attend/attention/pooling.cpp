#include "attend/attention/pooling.h"

#include "attend/core/error.h"
#include "attend/ops/attention.h"
#include "attend/ops/dropout.h"
#include "attend/ops/matmul.h"
#include "attend/ops/softmax.h"

namespace attend {
namespace {

/// Adds a dimension for a single head: [B, T, D] -> [B, T, 1, D].
Tensor one_head(const Tensor& x) { return x.reshape({x.dim(0), x.dim(1), 1, x.dim(2)}); }

/// Whether the score is a dot product of queries and keys, which the fused kernel can compute.
bool is_product(const Score& score) {
  return std::holds_alternative<Dot>(score.base()) || std::holds_alternative<ScaledDot>(score.base()) ||
         std::holds_alternative<General>(score.base());
}

void check(const Tensor& q, const Tensor& keys, const Tensor& v) {
  if (q.rank() != 3 || keys.rank() != 3 || v.rank() != 3 || q.dim(0) != keys.dim(0) || q.dim(0) != v.dim(0) ||
      keys.dim(1) != v.dim(1))
    fail("pool", "queries, keys and values do not fit: got q ", q.shape(), ", k ", keys.shape(), " and v ", v.shape(),
         ", expected [B, T, Dq], [B, S, Dk] and [B, S, Dv]");
}

}  // namespace

Tensor pool_prepared(const Score& score, const Tensor& q, const Tensor& keys, const Tensor& v,
                     const PoolingOptions& options) {
  check(q, keys, v);
  if (is_product(score)) {
    AttentionOptions fused{.mask = options.mask, .dropout = options.dropout};
    if (!std::holds_alternative<ScaledDot>(score.base())) fused.scale = 1.f;
    if (options.probe) options.probe->record(attention_weights(one_head(q), one_head(keys), fused));
    return attention(one_head(q), one_head(keys), one_head(v), fused).reshape({q.dim(0), q.dim(1), v.dim(2)});
  }
  const Tensor weights = masked_softmax(score(q, keys), options.mask);
  if (options.probe) options.probe->record(weights);
  return matmul(dropout(weights, options.dropout), v);
}

Tensor pool(const Score& score, const Tensor& q, const Tensor& k, const Tensor& v, const PoolingOptions& options) {
  return pool_prepared(score, q, score.keys(k), v, options);
}

Tensor nadaraya_watson(const Score& kernel, const Tensor& queries, const Tensor& keys, const Tensor& values,
                       const PoolingOptions& options) {
  const std::int64_t S = keys.rank() > 0 ? keys.dim(0) : 0;
  if (queries.rank() < 1 || queries.rank() > 2 || keys.rank() != queries.rank() || values.shape() != Shape{S} ||
      keys.shape().without(0) != queries.shape().without(0))
    fail("nadaraya_watson", "the shapes do not fit: got queries ", queries.shape(), ", keys ", keys.shape(),
         " and values ", values.shape(), ", expected [T, D], [S, D] and [S]");
  const std::int64_t T = queries.dim(0), D = queries.rank() == 2 ? queries.dim(1) : 1;
  return pool(kernel, queries.reshape({1, T, D}), keys.reshape({1, S, D}), values.reshape({1, S, 1}), options)
      .reshape({T});
}

}  // namespace attend
