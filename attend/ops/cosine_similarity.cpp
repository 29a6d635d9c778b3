#include "attend/ops/cosine_similarity.h"

#include "attend/kernels/unit_rows.h"
#include "attend/ops/check.h"
#include "attend/ops/matmul.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

Tensor unit_rows(const Tensor& x, float eps) {
  const Tensor y = Tensor::like(x), scales = Tensor::empty({x.rows()});
  kernels::unit_rows(x.rows(), x.dim(-1), x.data(), eps, y.data(), scales.data());
  return record("cosine_similarity", y, {x}, [y, scales, eps](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::unit_rows_backward(y.rows(), y.dim(-1), y.data(), scales.data(), eps, dy.data(), dx.data(), accumulate);
  });
}

}  // namespace

Tensor cosine_similarity(const Tensor& q, const Tensor& k, float eps) {
  check_float("cosine_similarity", "q", q);
  check_float("cosine_similarity", "k", k);
  if (q.rank() != 3 || k.rank() != 3 || q.dim(0) != k.dim(0) || q.dim(2) != k.dim(2))
    fail("cosine_similarity", "the shapes do not fit: got q ", q.shape(), " and k ", k.shape(),
         ", expected [B, T, D] and [B, S, D]");
  if (!(eps > 0)) fail("cosine_similarity", "eps must be positive: got ", eps);
  return matmul(unit_rows(q, eps), unit_rows(k, eps), {.transpose_b = true});
}

}  // namespace attend
