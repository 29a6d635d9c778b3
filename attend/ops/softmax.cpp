#include "attend/ops/softmax.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/kernels/softmax.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

std::int64_t last_dim(const char* op, const Tensor& x) {
  if (x.rank() == 0) fail(op, "a row is needed: got a scalar, expected [..., D]");
  return x.dim(-1);
}

/// lengths may be undefined: all columns count.
Tensor softmax_by(const char* op, const Tensor& x, const Tensor& lengths, std::int64_t rows_each) {
  const std::int64_t cols = x.dim(-1);
  const auto row_lengths = [](const Tensor& t, std::int64_t each) {
    return kernels::RowLengths{t.defined() ? t.data<std::int32_t>() : nullptr, each};
  };
  Tensor y = Tensor::like(x);
  kernels::softmax(x.rows(), cols, x.data(), row_lengths(lengths, rows_each), y.data());
  return record(op, y, {x}, [=, y = y.detach()](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::softmax_backward(y.rows(), cols, y.data(), dy.data(), row_lengths(lengths, rows_each), dx.data(),
                              accumulate);
  });
}

}  // namespace

Tensor softmax(const Tensor& x) {
  last_dim("softmax", x);
  return softmax_by("softmax", x, {}, 1);
}

Tensor masked_softmax(const Tensor& x, const Tensor& lengths) {
  const std::int64_t cols = last_dim("masked_softmax", x);
  if (lengths.dtype() != DType::i32) fail("masked_softmax", "lengths are int32: got ", lengths.dtype());
  const bool leading = lengths.rank() >= 1 && lengths.rank() < x.rank() &&
                       std::equal(lengths.shape().begin(), lengths.shape().end(), x.shape().begin());
  if (!leading)
    fail("masked_softmax", "the lengths must fit the leading dimensions: got x ", x.shape(), " and lengths ",
         lengths.shape(), ", expected [B] or [B, T] for x [B, T, D]");
  for (std::int64_t i = 0; i < lengths.numel(); ++i)
    if (const std::int32_t length = lengths.data<std::int32_t>()[i]; length < 0 || length > cols)
      fail("masked_softmax", "length ", i, " is out of range: got ", length, ", expected 0 to ", cols);
  const std::int64_t rows_each = lengths.numel() > 0 ? x.rows() / lengths.numel() : 1;
  return softmax_by("masked_softmax", x, lengths, std::max<std::int64_t>(rows_each, 1));
}

Tensor log_softmax(const Tensor& x) {
  const std::int64_t cols = last_dim("log_softmax", x);
  Tensor y = Tensor::like(x);
  kernels::log_softmax(x.rows(), cols, x.data(), y.data());
  return record("log_softmax", y, {x}, [cols, y = y.detach()](const Tensor& dy, Grads& grads) {
    const auto [dx, accumulate] = grads.target(0);
    kernels::log_softmax_backward(y.rows(), cols, y.data(), dy.data(), dx.data(), accumulate);
  });
}

}  // namespace attend
