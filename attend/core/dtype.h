// What a tensor's elements are. float32 computes, int32 holds ids, int8 holds flags; the others only store weights.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>

namespace attend {

enum class DType : std::uint8_t { f32, i32, f16, bf16, i8 };

/// Bytes of one element.
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

/// The dtype that a C++ type is stored as. Half precision has no C++20 type: it is read as its bits (std::uint16_t).
template <typename T>
inline constexpr DType dtype_of = T::no_dtype_for_this_type;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::i8;

}  // namespace attend
