#include "attend/core/convert.h"

#include <cmath>

#include "attend/core/error.h"
#include "attend/core/threads.h"

namespace attend {

std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // stays a NaN: sets the quiet bit
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

std::uint16_t f16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7FFFFFFF;
  std::uint32_t half;
  if (magnitude > 0x7F800000) {
    half = 0x7E00;  // NaN
  } else if (magnitude >= 0x477FF000) {
    half = 0x7C00;  // 65520 and above round to infinity
  } else if (magnitude < 0x38800000) {
    // Subnormal: after adding 0.5, the lowest bits of the sum hold the value, rounded to a multiple of 2^-24.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  } else {
    half = (magnitude - 0x38000000 + 0xFFF + ((magnitude >> 13) & 1)) >> 13;
  }
  return static_cast<std::uint16_t>(half | sign);
}

namespace {

template <typename From, typename To, typename One>
void convert_all(const Tensor& x, const Tensor& y, One one) {
  const From* from = reinterpret_cast<const From*>(x.raw());
  To* to = reinterpret_cast<To*>(y.raw());
  parallel_for(x.numel(), 16384, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = one(from[i]);
  });
}

}  // namespace

Tensor convert(const Tensor& x, DType dtype) {
  if (!x.defined()) fail("convert", "cannot convert an undefined tensor");
  if (x.dtype() == dtype) return x.detach();
  Tensor y = Tensor::empty(x.shape(), dtype);
  const auto as_float = [](auto value) { return static_cast<float>(value); };
  if (dtype == DType::f32) {
    switch (x.dtype()) {
      case DType::f16:
        convert_all<std::uint16_t, float>(x, y, float_from_f16);
        return y;
      case DType::bf16:
        convert_all<std::uint16_t, float>(x, y, float_from_bf16);
        return y;
      case DType::i8:
        convert_all<std::int8_t, float>(x, y, as_float);
        return y;
      case DType::i32:
        convert_all<std::int32_t, float>(x, y, as_float);
        return y;
      case DType::f32:
        break;
    }
  }
  if (x.dtype() == DType::f32 && dtype == DType::f16) {
    convert_all<float, std::uint16_t>(x, y, f16_from_float);
    return y;
  }
  if (x.dtype() == DType::f32 && dtype == DType::bf16) {
    convert_all<float, std::uint16_t>(x, y, bf16_from_float);
    return y;
  }
  fail("convert", "no conversion from ", x.dtype(), " to ", dtype, "; convert to float32 first");
}

}  // namespace attend
