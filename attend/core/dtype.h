// Element types of tensors. Computation uses float32. int32 holds ids, int8 holds flags or quantised weights. float16
// and bfloat16 only store weights.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>

namespace attend {

enum class DType : std::uint8_t { f32, i32, f16, bf16, i8 };

/// Size of one element in bytes.
constexpr std::size_t size_of(DType type) {
  switch (type) {
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::i8:
      return 1;
  }
  return 0;
}

/// "float32", "int32", …
const char* name_of(DType type);
std::ostream& operator<<(std::ostream& out, DType type);

/// The dtype of a C++ type. C++20 has no types for float16 and bfloat16: their bits are read as std::uint16_t.
template <typename T>
inline constexpr DType dtype_of = T::no_dtype_for_this_type;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::i8;

}  // namespace attend
