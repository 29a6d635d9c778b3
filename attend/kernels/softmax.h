// Softmax and log-softmax over rows.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// The number of columns of a row that are used: lengths[row / rows_each], or all if `lengths` is null.
struct RowLengths {
  const std::int32_t* lengths = nullptr;
  std::int64_t rows_each = 1;
  std::int64_t operator()(std::int64_t row, std::int64_t cols) const {
    return lengths ? lengths[row / rows_each] : cols;
  }
};

/// y = e^x / Σ e^x over the used columns, 0 in the others.   x, y [rows, cols]; y may be x
/// The result is zero if no column is used, or if all elements are -infinity.
void softmax(std::int64_t rows, std::int64_t cols, const float* x, RowLengths lengths, float* y);
/// dx (+)= y (dy - Σ y dy).
void softmax_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, RowLengths lengths,
                      float* dx, bool accumulate);

/// y = x - log(Σ e^x).   x, y [rows, cols]; y may be x
void log_softmax(std::int64_t rows, std::int64_t cols, const float* x, float* y);
/// dx (+)= dy - e^y Σ dy.
void log_softmax_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, float* dx,
                          bool accumulate);

}  // namespace attend::kernels
