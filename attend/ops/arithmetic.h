// Element-wise arithmetic. Shapes broadcast: right-aligned, a size of 1 repeats, so that a row vector [D] meets
// [B, T, D], and [B, 1, D] meets [B, T, D].
#pragma once
#include "attend/core/tensor.h"

namespace attend {

Tensor add(const Tensor& a, const Tensor& b);  ///< a + b
Tensor sub(const Tensor& a, const Tensor& b);  ///< a - b
Tensor mul(const Tensor& a, const Tensor& b);  ///< a · b, element by element
Tensor div(const Tensor& a, const Tensor& b);  ///< a / b; IEEE's infinities and NaN where b is 0

/// scale · x + shift.
Tensor affine(const Tensor& x, float scale, float shift);
Tensor negate(const Tensor& x);  ///< -x
Tensor exp(const Tensor& x);     ///< e^x
Tensor log(const Tensor& x);     ///< ln x
Tensor sqrt(const Tensor& x);    ///< √x
Tensor square(const Tensor& x);  ///< x²

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return negate(x); }

inline Tensor operator+(const Tensor& x, float s) { return affine(x, 1.f, s); }
inline Tensor operator+(float s, const Tensor& x) { return affine(x, 1.f, s); }
inline Tensor operator-(const Tensor& x, float s) { return affine(x, 1.f, -s); }
inline Tensor operator-(float s, const Tensor& x) { return affine(x, -1.f, s); }
inline Tensor operator*(const Tensor& x, float s) { return affine(x, s, 0.f); }
inline Tensor operator*(float s, const Tensor& x) { return affine(x, s, 0.f); }
inline Tensor operator/(const Tensor& x, float s) { return affine(x, 1.f / s, 0.f); }
inline Tensor operator/(float s, const Tensor& x) { return div(Tensor::scalar(s), x); }

}  // namespace attend
