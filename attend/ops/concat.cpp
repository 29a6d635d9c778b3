#include "attend/ops/concat.h"

#include <numeric>

#include "attend/kernels/elementwise.h"
#include "attend/kernels/movement.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// A view of a tensor as a matrix, for loops over one dimension: `rows` is the product of the sizes before the
/// dimension, `step` the product of those after it.
struct Cut {
  std::int64_t rows = 1, step = 1;
};
Cut cut_at(const Shape& shape, int dim) {
  Cut cut;
  for (int d = 0; d < dim; ++d) cut.rows *= shape[d];
  for (int d = dim + 1; d < shape.rank(); ++d) cut.step *= shape[d];
  return cut;
}

/// Copies `steps` steps of every row: from step `from_at` of one tensor, whose rows have `from_length` steps, to step
/// `to_at` of another, whose rows have `to_length` steps.
void copy_steps(Cut cut, std::int64_t steps, const Tensor& from, std::int64_t from_length, std::int64_t from_at,
                const Tensor& to, std::int64_t to_length, std::int64_t to_at) {
  const std::int64_t bytes = cut.step * static_cast<std::int64_t>(size_of(from.dtype()));
  kernels::copy_rows(cut.rows, steps * bytes, from.raw() + from_at * bytes, from_length * bytes,
                     to.raw() + to_at * bytes, to_length * bytes);
}
/// Like copy_steps, but adds.
void add_steps(Cut cut, std::int64_t steps, const Tensor& from, std::int64_t from_length, std::int64_t from_at,
               const Tensor& to, std::int64_t to_length, std::int64_t to_at) {
  kernels::add_rows(cut.rows, steps * cut.step, from.data() + from_at * cut.step, from_length * cut.step,
                    to.data() + to_at * cut.step, to_length * cut.step);
}

}  // namespace

Tensor concat(std::span<const Tensor> parts, int dim) {
  if (parts.empty()) fail("concat", "there is nothing to concatenate");
  dim = check_dim("concat", parts[0], dim);
  std::vector<std::int64_t> sizes;
  for (const Tensor& part : parts) {
    check_dtype("concat", "a part", part, parts[0].dtype());
    if (part.rank() != parts[0].rank() || part.shape().with(dim, 0) != parts[0].shape().with(dim, 0))
      fail("concat", "the parts must have equal sizes except in dimension ", dim, ": got ", parts[0].shape(), " and ",
           part.shape());
    sizes.push_back(part.dim(dim));
  }
  const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  const Cut cut = cut_at(parts[0].shape(), dim);
  Tensor y = Tensor::empty(parts[0].shape().with(dim, total), parts[0].dtype());
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parts.size(); at += sizes[i++])
    copy_steps(cut, sizes[i], parts[i], sizes[i], 0, y, total, at);
  return record("concat", y, {parts.begin(), parts.end()}, [=](const Tensor& dy, Grads& grads) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < sizes.size(); from += sizes[i++]) {
      if (!grads.wants(i)) continue;
      const auto [dx, accumulate] = grads.target(i);
      (accumulate ? add_steps : copy_steps)(cut, sizes[i], dy, total, from, dx, sizes[i], 0);
    }
  });
}

std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, int dim) {
  dim = check_dim("split", x, dim);
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) fail("split", "a size cannot be negative: got ", size);
    total += size;
  }
  if (total != x.dim(dim))
    fail("split", "the sizes do not add up: got ", total, " for dimension ", dim, " of x ", x.shape());
  const Cut cut = cut_at(x.shape(), dim);
  std::vector<Tensor> parts;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(Tensor::empty(x.shape().with(dim, size), x.dtype()));
    copy_steps(cut, size, x, total, at, parts.back(), size, 0);
    at += size;
  }
  // One node for all parts, so that their gradients fill that of x, which need not be zeroed first.
  record("split", parts, {x},
         [=, sizes = std::vector(sizes.begin(), sizes.end())](std::span<const Tensor> dys, Grads& grads) {
           const auto [dx, accumulate] = grads.target(0);
           std::int64_t to = 0;
           for (std::size_t i = 0; i < sizes.size(); to += sizes[i++]) {
             const Tensor dy = dys[i].defined() || accumulate ? dys[i] : Tensor::zeros({cut.rows, sizes[i] * cut.step});
             if (dy.defined()) (accumulate ? add_steps : copy_steps)(cut, sizes[i], dy, sizes[i], 0, dx, total, to);
           }
         });
  return parts;
}

std::vector<Tensor> split(const Tensor& x, int count, int dim) {
  dim = check_dim("split", x, dim);
  if (count < 1 || x.dim(dim) % count != 0)
    fail("split", "dimension ", dim, " of x ", x.shape(), " cannot be cut into ", count, " equal parts");
  return split(x, std::vector<std::int64_t>(static_cast<std::size_t>(count), x.dim(dim) / count), dim);
}

Tensor slice(const Tensor& x, int dim, std::int64_t begin, std::int64_t end) {
  dim = check_dim("slice", x, dim);
  const std::int64_t total = x.dim(dim), size = end - begin;
  if (begin < 0 || end < begin || end > total)
    fail("slice", "no such range: got [", begin, ", ", end, ") of dimension ", dim, " of x ", x.shape());
  const Cut cut = cut_at(x.shape(), dim);
  Tensor y = Tensor::empty(x.shape().with(dim, size), x.dtype());
  copy_steps(cut, size, x, total, begin, y, size, 0);
  return record("slice", y, {x}, [=](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    if (!accumulate) kernels::zero(dx.numel(), dx.data());
    add_steps(cut, size, dy, size, 0, dx, total, begin);
  });
}

}  // namespace attend
