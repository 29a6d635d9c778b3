#include "attend/ops/additive_scores.h"

#include "attend/kernels/additive.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& lengths) {
  check_float("additive_scores", "q", q);
  check_float("additive_scores", "k", k);
  check_float("additive_scores", "v", v);
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 1 || q.dim(0) != k.dim(0) || q.dim(2) != k.dim(2) ||
      q.dim(2) != v.dim(0))
    fail("additive_scores", "the shapes do not fit: got q ", q.shape(), ", k ", k.shape(), " and v ", v.shape(),
         ", expected [B, T, D], [B, S, D] and [D]");
  if (lengths.defined()) check_lengths("additive_scores", lengths, k.dim(0), k.dim(1));
}

kernels::AdditiveShape shape_of(const Tensor& q, const Tensor& k, const Tensor& lengths) {
  return {q.dim(0), q.dim(1), k.dim(1), q.dim(2), lengths.defined() ? lengths.data<std::int32_t>() : nullptr};
}

}  // namespace

Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& lengths) {
  check(q, k, v, lengths);
  Tensor scores = Tensor::empty({q.dim(0), q.dim(1), k.dim(1)});
  kernels::additive_scores(shape_of(q, k, lengths), q.data(), k.data(), v.data(), scores.data());
  return record("additive_scores", scores, {q, k, v},
                [q = q.detach(), k = k.detach(), v = v.detach(), lengths](const Tensor& dscores, Grads& grads) {
                  kernels::AdditiveGradient gradient;
                  const auto want = [&](std::size_t input, float*& to, bool& add) {
                    if (!grads.wants(input)) return;
                    const auto [tensor, accumulate] = grads.target(input);
                    to = tensor.data(), add = accumulate;
                  };
                  want(0, gradient.dq, gradient.add_to_dq);
                  want(1, gradient.dk, gradient.add_to_dk);
                  want(2, gradient.dv, gradient.add_to_dv);
                  kernels::additive_scores_backward(shape_of(q, k, lengths), q.data(), k.data(), v.data(),
                                                    dscores.data(), gradient);
                });
}

}  // namespace attend
