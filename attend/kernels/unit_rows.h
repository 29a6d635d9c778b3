// Rows scaled to length one.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// y = x / max(‖x‖, eps), row by row; scales [rows] = 1 / max(‖x‖, eps), for the way back.   x, y [rows, cols]
void unit_rows(std::int64_t rows, std::int64_t cols, const float* x, float eps, float* y, float* scales);

/// dx (+)= scale (dy - y (y · dy)); a row shorter than eps was only scaled: dx (+)= scale dy.
void unit_rows_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* scales, float eps,
                        const float* dy, float* dx, bool accumulate);

}  // namespace attend::kernels
