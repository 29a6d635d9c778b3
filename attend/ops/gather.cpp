#include "attend/ops/gather.h"

#include "attend/kernels/movement.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

Tensor pick_rows(const char* op, const Tensor& x, const Tensor& ids, const kernels::RowPick& pick, const Shape& shape) {
  Tensor y = Tensor::empty(shape);
  kernels::gather_rows(pick, x.data(), y.data());
  return record(op, y, {x}, [pick, ids](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::scatter_rows(pick, dy.data(), dx.data(), accumulate);
  });
}

}  // namespace

Tensor gather(const Tensor& x, const Tensor& ids) {
  check_float("gather", "x", x);
  if (x.rank() < 2 || (ids.rank() != 1 && ids.rank() != 2) || ids.dim(0) != x.dim(0))
    fail("gather", "ids do not fit x: got x ", x.shape(), " and ids ", ids.shape(),
         ", expected x [B, T, ...] and ids [B] or [B, K]");
  check_ids("gather", ids, x.dim(1));
  const bool one = ids.rank() == 1;
  const std::int64_t picks = one ? 1 : ids.dim(1);
  const Shape row = x.shape().without(1).without(0);
  const kernels::RowPick pick{x.dim(0), x.dim(1), row.numel(), picks, ids.data<std::int32_t>(), false};
  return pick_rows("gather", x, ids, pick, one ? x.shape().without(1) : x.shape().with(1, picks));
}

Tensor index_select(const Tensor& x, const Tensor& ids, int dim) {
  check_float("index_select", "x", x);
  dim = check_dim("index_select", x, dim);
  if (ids.rank() != 1) fail("index_select", "wrong shape of ids: got ", ids.shape(), ", expected [K]");
  check_ids("index_select", ids, x.dim(dim));
  kernels::RowPick pick{.n = x.dim(dim), .picks = ids.dim(0), .ids = ids.data<std::int32_t>()};
  for (int d = 0; d < dim; ++d) pick.outer *= x.dim(d);
  for (int d = dim + 1; d < x.rank(); ++d) pick.inner *= x.dim(d);
  return pick_rows("index_select", x, ids, pick, x.shape().with(dim, pick.picks));
}

}  // namespace attend
