// Conversions between the dtype that computes and those that store.
#pragma once
#include <bit>
#include <cstdint>

#include "attend/core/tensor.h"

namespace attend {

/// One number from its bits, exactly.
inline float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline float float_from_f16(std::uint16_t bits) {
  // Shifted into place, exponent and fraction are too small by 2^112: a multiplication also normalises subnormals.
  const std::uint32_t magnitude = (bits & 0x7FFFu) << 13, sign = (bits & 0x8000u) << 16;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const std::uint32_t special = (bits & 0x7C00u) == 0x7C00u ? 0x7F800000u : 0u;  // infinities and NaNs stay such
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

/// The nearest number's bits, ties to even; too large gives infinity, NaN stays NaN.
std::uint16_t bf16_from_float(float value);
std::uint16_t f16_from_float(float value);

/// The same values as another dtype, without history: anything to float32, and float32 to float16 or bfloat16.
/// Gives the same tensor when it already has the dtype. Throws for other pairs.
Tensor convert(const Tensor& x, DType dtype);

}  // namespace attend
