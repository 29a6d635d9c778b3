#include "attend/ops/embedding_bag.h"

#include <algorithm>

#include "attend/kernels/embedding_bag.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check_ids_or_none(const Tensor& table, const Tensor& ids) {
  check_dtype("embedding_bag", "ids", ids, DType::i32);
  if (ids.rank() < 1 || ids.rank() > 3) fail("embedding_bag", "ids have 1 to 3 dimensions: got ", ids.shape());
  const std::int32_t* values = ids.data<std::int32_t>();
  for (std::int64_t i = 0; i < ids.numel(); ++i)
    if (values[i] < kNoWord || values[i] >= table.dim(0))
      fail<InputError>("embedding_bag", "id ", values[i], " at position ", i, " of ids ", ids.shape(),
                       " is out of range, expected ", kNoWord, " to ", table.dim(0) - 1, kUnknownId);
}

void check_weights(const Tensor& table, const Tensor& ids, const BagWeights& weights) {
  check_float("embedding_bag", "the weights", weights.rows);
  if (weights.rows.rank() != 2 || weights.rows.dim(1) != table.dim(1))
    fail("embedding_bag", "the weights do not fit the table: got ", weights.rows.shape(), ", expected [P, ",
         table.dim(1), "]");
  if (weights.positions.shape() != ids.shape())
    fail("embedding_bag", "positions do not fit the ids: got ", weights.positions.shape(), ", expected ", ids.shape());
  check_ids("embedding_bag", weights.positions, weights.rows.dim(0));
}

}  // namespace

Tensor embedding_bag(const Tensor& table, const Tensor& ids, const BagWeights& weights) {
  check_float("embedding_bag", "the table", table);
  if (table.rank() != 2) fail("embedding_bag", "wrong shape of the table: got ", table.shape(), ", expected [V, D]");
  check_ids_or_none(table, ids);
  if (weights.rows.defined()) check_weights(table, ids, weights);

  const std::int64_t words = ids.dim(-1);
  kernels::EmbeddingBags bags{.bags = words == 0 ? 0 : ids.numel() / words,
                              .words = words,
                              .width = table.dim(1),
                              .ids = ids.data<std::int32_t>()};
  if (weights.rows.defined())
    bags.weights = weights.rows.data(), bags.positions = weights.positions.data<std::int32_t>();
  const Shape shape = ids.shape().with(ids.rank() - 1, table.dim(1));
  Tensor y = words == 0 ? Tensor::zeros(shape) : Tensor::empty(shape);
  kernels::embedding_bag(bags, table.data(), y.data());
  return record("embedding_bag", y, {table}, [bags, ids, weights](const Tensor& dy, Grads& grads) {
    const Tensor dtable = grads.sum(0);
    kernels::embedding_bag_backward(bags, dy.data(), dtable.data());
  });
}

}  // namespace attend
