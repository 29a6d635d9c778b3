#include "attend/ops/softmax.h"

#include <algorithm>
#include <limits>

#include "attend/kernels/softmax.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

std::int64_t last_dim(const char* op, const Tensor& x) {
  check_float(op, "x", x);
  if (x.rank() == 0) fail(op, "wrong shape: got a scalar, expected [..., D]");
  return x.dim(-1);
}

/// Softmax of the first lengths[i / rows_each] elements of row i, or of all elements if `lengths` is undefined.
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

/// A bias that is -infinity where the matrix of a mask is 0, in a shape that broadcasts to scores of the given rank.
Tensor matrix_bias(const Tensor& matrix, int rank) {
  Tensor bias = Tensor::empty(matrix.shape());
  std::ranges::transform(matrix.span<std::int8_t>(), bias.data(),
                         [](std::int8_t allowed) { return allowed ? 0.f : -std::numeric_limits<float>::infinity(); });
  if (rank == 4 && bias.rank() == 3) return bias.reshape(bias.shape().inserted(1, 1));
  if (rank == 3 && bias.rank() == 4) return bias.reshape(bias.shape().without(1));
  return bias;
}

}  // namespace

Tensor softmax(const Tensor& x) {
  last_dim("softmax", x);
  return softmax_by("softmax", x, {}, 1);
}

Tensor masked_softmax(const Tensor& x, const Tensor& lengths) {
  const std::int64_t cols = last_dim("masked_softmax", x);
  check_dtype("masked_softmax", "lengths", lengths, DType::i32);
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

Tensor masked_softmax(const Tensor& scores, const Mask& mask) {
  check_float("masked_softmax", "scores", scores);
  if (scores.rank() != 3 && scores.rank() != 4)
    fail("masked_softmax", "wrong shape: got scores ", scores.shape(), ", expected [B, T, S] or [B, H, T, S]");
  const std::int64_t B = scores.dim(0), H = scores.rank() == 4 ? scores.dim(1) : 1, T = scores.dim(-2),
                     S = scores.dim(-1);
  mask.check("masked_softmax", B, H, T, S);
  if (!mask.packed_lengths().empty()) fail("masked_softmax", "packed sequences are not supported");
  if (mask.window_distance() >= 0) fail("masked_softmax", "windows are not supported");
  const Tensor seen = mask.matrix().defined() ? scores + matrix_bias(mask.matrix(), scores.rank()) : scores;
  if (!mask.is_causal() && mask.lengths().empty()) return softmax(seen);

  // With a causal mask or lengths, each query attends to a prefix of the keys.
  Tensor lengths = Tensor::empty(scores.shape().without(-1), DType::i32);
  for (std::int64_t row = 0; row < B * H * T; ++row) {
    const auto b = static_cast<std::size_t>(row / (H * T));
    std::int64_t length = mask.lengths().empty() ? S : mask.lengths()[b];
    if (mask.is_causal()) length = std::min(length, row % T + 1);
    lengths.data<std::int32_t>()[row] = static_cast<std::int32_t>(length);
  }
  return masked_softmax(seen, lengths);
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
