// Element-wise loops over contiguous memory, on all threads. Arrays must be identical or must not overlap.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// y += x.
void add_to(std::int64_t n, const float* x, float* y);
/// y = scale · x + shift, or y += scale · x + shift if `accumulate`.
void affine(std::int64_t n, const float* x, float scale, float shift, float* y, bool accumulate = false);
/// y = 0.
void zero(std::int64_t n, float* y);

/// y = f(x). square is x²; sqrt of a negative number is NaN.
enum class Unary { exp, log, sqrt, square };
void unary(Unary f, std::int64_t n, const float* x, float* y);

}  // namespace attend::kernels
