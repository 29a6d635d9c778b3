// Softmax and its logarithm over rows.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// How many of a row's columns count: all, or lengths[row / rows_each].
struct RowLengths {
  const std::int32_t* lengths = nullptr;
  std::int64_t rows_each = 1;
  std::int64_t operator()(std::int64_t row, std::int64_t cols) const {
    return lengths ? lengths[row / rows_each] : cols;
  }
};

/// y = e^x / sum of e^x over the columns that count, 0 in the others.   x, y [rows, cols]; y may be x
/// A row without columns, or with nothing but -infinity, gives zeros.
void softmax(std::int64_t rows, std::int64_t cols, const float* x, RowLengths lengths, float* y);
/// dx = y (dy - sum of y dy), or added to dx.
void softmax_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, RowLengths lengths,
                      float* dx, bool accumulate);

/// y = x - log(sum of e^x).   x, y [rows, cols]; y may be x
void log_softmax(std::int64_t rows, std::int64_t cols, const float* x, float* y);
/// dx = dy - e^y sum of dy, or added to dx.
void log_softmax_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* dy, float* dx,
                          bool accumulate);

}  // namespace attend::kernels
