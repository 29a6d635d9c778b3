#include "attend/ops/matmul.h"

#include <algorithm>

#include "attend/kernels/matmul.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

kernels::MatmulShape shape_of(const Tensor& a, const Tensor& b, MatmulOptions options) {
  check_float("matmul", "a", a);
  check_float("matmul", "b", b);
  auto complain = [&] {
    fail("matmul", "the matrices do not fit: got a ", a.shape(), options.transpose_a ? " transposed" : "", " and b ",
         b.shape(), options.transpose_b ? " transposed" : "", ", expected [..., M, K] and [..., K, N] or [K, N]");
  };
  if (a.rank() < 2 || b.rank() < 2) complain();
  kernels::MatmulShape s;
  s.transpose_a = options.transpose_a, s.transpose_b = options.transpose_b;
  s.m = a.dim(s.transpose_a ? -1 : -2), s.k = a.dim(s.transpose_a ? -2 : -1);
  s.n = b.dim(s.transpose_b ? -2 : -1);
  s.broadcast_b = b.rank() == 2 && a.rank() > 2;
  const bool same_batch = a.rank() == b.rank() && std::equal(a.shape().begin(), a.shape().end() - 2, b.shape().begin());
  if (s.k != b.dim(s.transpose_b ? -1 : -2) || !(same_batch || s.broadcast_b)) complain();
  for (int i = 0; i + 2 < a.rank(); ++i) s.batch *= a.dim(i);
  if (s.broadcast_b && !s.transpose_a) s.m *= s.batch, s.batch = 1, s.broadcast_b = false;  // one tall matrix
  return s;
}

/// The gradient of a: dC op(B)ᵀ, or op(B) dCᵀ if a is stored transposed.
void backward_a(const kernels::MatmulShape& s, const Tensor& b, const Tensor& dy, const Grads::Target& da) {
  kernels::MatmulShape g{.m = s.m,
                         .n = s.k,
                         .k = s.n,
                         .batch = s.batch,
                         .transpose_b = !s.transpose_b,
                         .accumulate = da.accumulate,
                         .broadcast_b = s.broadcast_b};
  if (!s.transpose_a) return kernels::matmul(g, dy.data(), b.data(), da.tensor.data());
  // Here b is the first operand. The kernel can only broadcast the second one, so the batch is a loop.
  g = {.m = s.k,
       .n = s.m,
       .k = s.n,
       .batch = s.broadcast_b ? 1 : s.batch,
       .transpose_a = s.transpose_b,
       .transpose_b = true,
       .accumulate = da.accumulate};
  for (std::int64_t i = 0; i < (s.broadcast_b ? s.batch : 1); ++i)
    kernels::matmul(g, b.data(), dy.data() + i * s.m * s.n, da.tensor.data() + i * s.m * s.k);
}

/// The gradient of b: op(A)ᵀ dC, or dCᵀ op(A) if b is stored transposed. It is summed over the batch if b is broadcast.
void backward_b(const kernels::MatmulShape& s, const Tensor& a, const Tensor& dy, const Grads::Target& db) {
  if (s.broadcast_b && s.batch == 0 && !db.accumulate) return db.tensor.fill(0.f);
  kernels::MatmulShape g{.batch = s.broadcast_b ? 1 : s.batch, .accumulate = db.accumulate};
  for (std::int64_t i = 0; i < (s.broadcast_b ? s.batch : 1); ++i, g.accumulate = true) {
    const float *a_i = a.data() + i * s.m * s.k, *dy_i = dy.data() + i * s.m * s.n;
    if (s.transpose_b) {
      g.m = s.n, g.n = s.k, g.k = s.m, g.transpose_a = true, g.transpose_b = s.transpose_a;
      kernels::matmul(g, dy_i, a_i, db.tensor.data());
    } else {
      g.m = s.k, g.n = s.n, g.k = s.m, g.transpose_a = !s.transpose_a;
      kernels::matmul(g, a_i, dy_i, db.tensor.data());
    }
  }
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options) {
  const kernels::MatmulShape s = shape_of(a, b, options);
  const std::int64_t m = a.dim(options.transpose_a ? -1 : -2);
  Tensor y = Tensor::empty(a.shape().with(-2, m).with(-1, s.n));
  kernels::matmul(s, a.data(), b.data(), y.data());
  return record("matmul", y, {a, b}, [s, a = a.detach(), b = b.detach()](const Tensor& dy, Grads& grads) {
    if (grads.wants(0)) backward_a(s, b, dy, grads.target(0));
    if (grads.wants(1)) backward_b(s, a, dy, grads.target(1));
  });
}

}  // namespace attend
