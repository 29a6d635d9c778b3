#include "attend/ops/mask.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "attend/core/error.h"

namespace attend {

Mask Mask::causal() {
  Mask mask;
  mask.causal_ = true;
  return mask;
}

Mask Mask::window(std::int64_t distance) {
  if (distance < 0) fail("mask", "the distance of a window cannot be negative: got ", distance);
  Mask mask;
  mask.window_ = distance;
  return mask;
}

namespace {

void check_not_negative(std::span<const std::int64_t> lengths) {
  for (const std::int64_t length : lengths)
    if (length < 0) fail("mask", "a length cannot be negative: got ", length);
}

}  // namespace

Mask Mask::keys(std::vector<std::int64_t> lengths) {
  check_not_negative(lengths);
  Mask mask;
  mask.by_length_ = true;
  mask.lengths_ = std::move(lengths);
  return mask;
}

Mask Mask::keys(const Tensor& lengths) {
  if (lengths.rank() != 1) fail("mask", "wrong shape of the lengths: got ", lengths.shape(), ", expected [B]");
  const auto values = lengths.span<std::int32_t>();
  return keys(std::vector<std::int64_t>(values.begin(), values.end()));
}

Mask Mask::packed(std::vector<std::int64_t> lengths) {
  check_not_negative(lengths);
  Mask mask;
  mask.packed_ = true;
  mask.packed_lengths_ = std::move(lengths);
  return mask;
}

Mask Mask::allowed(Tensor matrix) {
  if (matrix.dtype() != DType::i8) fail("mask", "wrong dtype of the matrix: got ", matrix.dtype(), ", expected int8");
  if (matrix.rank() < 2) fail("mask", "the matrix must be [T, S], [B, T, S] or [B, H, T, S]: got ", matrix.shape());
  Mask mask;
  mask.matrix_ = std::move(matrix);
  return mask;
}

Mask operator&(const Mask& a, const Mask& b) {
  Mask both = a;
  both.causal_ |= b.causal_;
  if (a.window_ < 0 || b.window_ < 0)
    both.window_ = std::max(a.window_, b.window_);
  else
    both.window_ = std::min(a.window_, b.window_);
  both.by_length_ |= b.by_length_;
  if (!a.by_length_) {
    both.lengths_ = b.lengths_;
  } else if (b.by_length_) {
    if (a.lengths_.size() != b.lengths_.size())
      fail("mask", "the lengths are of different batches: got ", a.lengths_.size(), " and ", b.lengths_.size());
    for (std::size_t i = 0; i < both.lengths_.size(); ++i) both.lengths_[i] = std::min(both.lengths_[i], b.lengths_[i]);
  }
  if (a.packed_ && b.packed_) fail("mask", "both masks have packed sequences: only one can");
  both.packed_ |= b.packed_;
  if (!a.packed_) both.packed_lengths_ = b.packed_lengths_;
  if (a.matrix_.defined() && b.matrix_.defined())
    fail("mask", "only one matrix can be used: got ", a.matrix_.shape(), " and ", b.matrix_.shape(),
         "; combine them first");
  if (!both.matrix_.defined()) both.matrix_ = b.matrix_;
  return both;
}

void Mask::check(const char* op, std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t S) const {
  if (packed_) {
    const std::int64_t rows = std::accumulate(packed_lengths_.begin(), packed_lengths_.end(), std::int64_t{0});
    if (B != 1 || T != rows || S != rows)
      fail(op, "packed sequences need a batch of 1: got ", B, " sequences of ", T, " queries and ", S,
           " keys, expected 1 of ", rows);
    if (by_length_ || matrix_.defined()) fail(op, "a mask of packed sequences cannot have lengths or a matrix");
  }
  if (by_length_) {
    if (static_cast<std::int64_t>(lengths_.size()) != B)
      fail(op, "the mask needs one length for each sequence: got ", lengths_.size(), " lengths, expected ", B);
    for (const std::int64_t length : lengths_)
      if (length > S)
        fail(op, "a length of the mask exceeds the number of keys: got ", length, ", expected at most ", S);
  }
  if (matrix_.defined()) check_score_matrix(op, "matrix of the mask", matrix_, B, H, T, S);
}

void check_score_matrix(const char* op, const char* name, const Tensor& matrix, std::int64_t B, std::int64_t H,
                        std::int64_t T, std::int64_t S) {
  const int rank = matrix.rank();
  const bool fits = rank >= 2 && rank <= 4 && matrix.dim(-2) == T && matrix.dim(-1) == S &&
                    (rank < 3 || matrix.dim(0) == B || matrix.dim(0) == 1) &&
                    (rank < 4 || matrix.dim(1) == H || matrix.dim(1) == 1);
  if (!fits)
    fail(op, "the ", name, " does not fit: got ", matrix.shape(), ", expected ", Shape{T, S}, ", ", Shape{B, T, S},
         " or ", Shape{B, H, T, S});
}

}  // namespace attend
