// Element-wise arithmetic with broadcasting, as in PyTorch: shapes are aligned at the last dimension, and a size of 1
// is repeated. For example, [D] and [B, 1, D] broadcast to [B, T, D].
#pragma once
#include "attend/core/tensor.h"

namespace attend {

Tensor add(const Tensor& a, const Tensor& b);  ///< a + b
Tensor sub(const Tensor& a, const Tensor& b);  ///< a - b
Tensor mul(const Tensor& a, const Tensor& b);  ///< a · b, element by element
Tensor div(const Tensor& a, const Tensor& b);  ///< a / b; infinity or NaN where b is 0

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
