#include "attend/attention/scores.h"

#include <cmath>

#include "attend/core/error.h"
#include "attend/ops/additive_scores.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/concat.h"
#include "attend/ops/cosine_similarity.h"
#include "attend/ops/matmul.h"
#include "attend/ops/reduce.h"

namespace attend {
namespace {

void check(const char* score, const Tensor& q, const Tensor& keys, bool same_width) {
  if (q.rank() != 3 || keys.rank() != 3 || q.dim(0) != keys.dim(0) || (same_width && q.dim(2) != keys.dim(2)))
    fail(score, "queries and keys do not fit: got q ", q.shape(), " and k ", keys.shape(),
         ", expected [B, T, Dq] and [B, S, Dk]", same_width ? " with Dq = Dk" : "");
}

}  // namespace

Tensor Dot::operator()(const Tensor& q, const Tensor& keys) const {
  check("dot", q, keys, true);
  return matmul(q, keys, {.transpose_b = true});
}

Tensor ScaledDot::operator()(const Tensor& q, const Tensor& keys) const {
  check("scaled dot", q, keys, true);
  // Scaling q is cheaper than scaling the scores.
  return matmul(q * (1.f / std::sqrt(static_cast<float>(q.dim(2)))), keys, {.transpose_b = true});
}

Additive::Additive(std::int64_t Dq, std::int64_t Dk, std::int64_t hidden, Generator& generator)
    : query(Dq, hidden, false, generator), key(Dk, hidden, false, generator), v(Tensor::empty({hidden})) {
  init::uniform_fan_in(v, hidden, generator);
}

Tensor Additive::operator()(const Tensor& q, const Tensor& keys) const {
  check("additive", q, keys, false);
  return additive_scores(query(q), keys, v);
}

Tensor Location::operator()(const Tensor& q, const Tensor& keys) const {
  check("location", q, keys, false);
  const std::int64_t S = keys.dim(1), most = position.weight.dim(0);
  if (S > most) fail("location", "more keys than learned positions: got ", S, ", expected at most ", most);
  return slice(position(q), 2, 0, S);
}

Tensor Content::operator()(const Tensor& q, const Tensor& keys) const {
  check("content", q, keys, true);
  return cosine_similarity(q, keys) * sharpness;
}

Tensor Gaussian::operator()(const Tensor& q, const Tensor& keys) const {
  check("gaussian", q, keys, true);
  const std::int64_t B = q.dim(0), T = q.dim(1), S = keys.dim(1), D = q.dim(2);
  // Not computed as ‖q‖² + ‖k‖² - 2 q·k, which loses precision if q and k are large.
  const Tensor difference = q.reshape({B, T, 1, D}) - keys.reshape({B, 1, S, D});
  return sum(square(difference * inverse_width), 3) * -0.5f;
}

Tensor Uniform::operator()(const Tensor& q, const Tensor& keys) const {
  check("uniform", q, keys, false);
  return Tensor::zeros({q.dim(0), q.dim(1), keys.dim(1)});
}

}  // namespace attend
