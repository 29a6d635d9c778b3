// Scaling of rows to norm 1.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// y = x / max(‖x‖, eps) for each row; scales [rows] = 1 / max(‖x‖, eps), for the backward pass.   x, y [rows, cols]
void unit_rows(std::int64_t rows, std::int64_t cols, const float* x, float eps, float* y, float* scales);

/// dx (+)= scale (dy - y (y · dy)), or dx (+)= scale dy if the norm of the row was less than eps.
void unit_rows_backward(std::int64_t rows, std::int64_t cols, const float* y, const float* scales, float eps,
                        const float* dy, float* dx, bool accumulate);

}  // namespace attend::kernels
