#include "attend/ops/embedding.h"

#include "attend/kernels/movement.h"
#include "attend/ops/check.h"
#include "attend/ops/half.h"
#include "attend/ops/tape.h"

namespace attend {

namespace {

/// embedding() with a table in float16 or bfloat16, which has no gradient.
Tensor embedding_of_half(const Tensor& table, const Tensor& ids, const EmbeddingOptions& options) {
  if (table.rank() != 2) fail("embedding", "wrong shape of the table: got ", table.shape(), ", expected [V, D]");
  check_ids("embedding", ids, table.dim(0), kUnknownId);
  const std::int64_t width = table.dim(1);
  Tensor y = Tensor::empty(ids.shape().inserted(ids.rank(), width));
  float* to = y.data();
  for (const std::int32_t id : ids.span<std::int32_t>()) {
    kernels::widen(width, half_numbers(table) + id * width, to);
    for (float* const end = to + width; to < end; ++to) *to *= options.scale;
  }
  return y;
}

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& ids, const EmbeddingOptions& options) {
  if (is_half(table)) return embedding_of_half(table, ids, options);
  check_float("embedding", "the table", table);
  if (table.rank() != 2) fail("embedding", "wrong shape of the table: got ", table.shape(), ", expected [V, D]");
  check_ids("embedding", ids, table.dim(0), kUnknownId);
  if (ids.rank() > 3) fail("embedding", "ids have at most 3 dimensions: got ", ids.shape());

  Tensor y = Tensor::empty(ids.shape().inserted(ids.rank(), table.dim(1)));
  const kernels::RowPick pick{
      .n = table.dim(0), .inner = table.dim(1), .picks = ids.numel(), .ids = ids.data<std::int32_t>()};
  kernels::gather_rows(pick, table.data(), y.data(), options.scale);
  return record("embedding", y, {table}, [pick, ids, options](const Tensor& dy, Grads& grads) {
    const auto [dtable, accumulate] = grads.target(0);
    kernels::scatter_rows(pick, dy.data(), dtable.data(), accumulate, options.scale, options.padding);
  });
}

}  // namespace attend
