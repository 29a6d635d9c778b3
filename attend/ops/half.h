// Tensors of 16-bit floating-point numbers, in which files hold weights. linear() and embedding() use them without a
// copy; they have no gradients.
#pragma once
#include "attend/core/tensor.h"
#include "attend/kernels/half.h"

namespace attend {

inline bool is_half(const Tensor& x) { return x.defined() && (x.dtype() == DType::f16 || x.dtype() == DType::bf16); }

inline kernels::HalfNumbers half_numbers(const Tensor& x) {
  return {reinterpret_cast<const std::uint16_t*>(x.raw()), x.dtype() == DType::bf16};
}

}  // namespace attend
