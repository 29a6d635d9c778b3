// Conversions between float32, which is used for computation, and the dtypes in which weights are stored.
#pragma once
#include <bit>
#include <cstdint>

#include "attend/core/tensor.h"

namespace attend {

/// Converts the bits of one bfloat16 or float16 number to float32. The conversion is exact.
inline float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline float float_from_f16(std::uint16_t bits) {
  // The shifted bits, read as float32, are too small by a factor of 2^112. The multiplication corrects this, and also
  // normalises subnormals.
  const std::uint32_t magnitude = (bits & 0x7FFFu) << 13, sign = (bits & 0x8000u) << 16;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const std::uint32_t special = (bits & 0x7C00u) == 0x7C00u ? 0x7F800000u : 0u;  // infinity or NaN
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

/// The bits of the nearest bfloat16 or float16 number; ties round to even. Values out of range become infinity, and NaN
/// stays NaN.
std::uint16_t bf16_from_float(float value);
std::uint16_t f16_from_float(float value);

/// Converts a tensor from any dtype to float32, or from float32 to float16 or bfloat16. The result has no gradient
/// history. A tensor that already has the dtype is returned without a copy. Throws for other pairs of dtypes.
Tensor convert(const Tensor& x, DType dtype);

}  // namespace attend
