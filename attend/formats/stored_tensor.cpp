#include "attend/formats/stored_tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "attend/core/error.h"
#include "attend/formats/gguf_blocks.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little, "files of weights are little-endian");

/// Element i of an array that may be misaligned.
template <typename T>
T read_at(std::span<const std::byte> bytes, std::int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

std::uint64_t stored_size(std::string_view dtype) {
  for (const char* one : {"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3"})
    if (dtype == one) return 1;
  for (const char* two : {"I16", "U16", "F16", "BF16"})
    if (dtype == two) return 2;
  for (const char* four : {"I32", "U32", "F32"})
    if (dtype == four) return 4;
  for (const char* eight : {"I64", "U64", "F64", "C64"})
    if (dtype == eight) return 8;
  return 0;
}

std::optional<std::uint64_t> stored_bytes(std::string_view dtype, std::span<const std::int64_t> shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  const BlockFormat* blocks = block_format(dtype);
  std::uint64_t bytes = blocks ? static_cast<std::uint64_t>(blocks->bytes) : stored_size(dtype);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t size = shape[i];
    if (blocks && i + 1 == shape.size()) {  // a row is a whole number of blocks
      if (size % blocks->elements != 0) return {};
      size /= blocks->elements;
    }
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return {};
  }
  return bytes;
}

const char* stored_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::i32:
      return "I32";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
    case DType::i8:
      return "I8";
  }
  return "";
}

Tensor read_stored(const std::string& file, std::string_view name, const StoredTensor& stored,
                   const std::shared_ptr<const void>& owner) {
  if (stored.shape.size() > static_cast<std::size_t>(Shape::kMaxRank))
    fail<InputError>("load", file, ": tensor ", in_quotes(name), " has ", stored.shape.size(),
                     " dimensions, expected at most ", Shape::kMaxRank, ": ", shape_text(stored.shape));
  const Shape shape{stored.shape};

  const auto as_stored = [&](DType dtype) {
    if (reinterpret_cast<std::uintptr_t>(stored.bytes.data()) % size_of(dtype) == 0)
      return Tensor::borrow(stored.bytes.data(), shape, dtype, owner);
    Tensor copied = Tensor::empty(shape, dtype);
    std::memcpy(copied.raw(), stored.bytes.data(), copied.bytes());
    return copied;
  };
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i8})
    if (stored.dtype == stored_name(dtype)) return as_stored(dtype);

  if (const BlockFormat* blocks = block_format(stored.dtype)) {
    Tensor x = Tensor::empty(shape);
    decode_blocks(*blocks, stored.bytes, {x.data(), static_cast<std::size_t>(x.numel())});
    return x;
  }
  if (stored.dtype == "F64") {
    Tensor x = Tensor::empty(shape);
    for (std::int64_t i = 0; i < x.numel(); ++i) x.data()[i] = static_cast<float>(read_at<double>(stored.bytes, i));
    return x;
  }
  if (stored.dtype == "I64") {
    Tensor x = Tensor::empty(shape, DType::i32);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const auto value = read_at<std::int64_t>(stored.bytes, i);
      if (!std::in_range<std::int32_t>(value))
        fail<InputError>("load", file, ": tensor ", in_quotes(name), " holds ", value, " at element ", i,
                         ", which does not fit into int32");
      x.data<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    }
    return x;
  }
  if (stored.dtype == "BOOL" || stored.dtype == "U8") {
    Tensor x = as_stored(DType::i8);
    for (std::int64_t i = 0; i < x.numel(); ++i)
      if (x.data<std::int8_t>()[i] < 0)
        fail<InputError>("load", file, ": tensor ", in_quotes(name), " holds ",
                         static_cast<std::uint8_t>(x.data<std::int8_t>()[i]) + 0, " at element ", i,
                         ", which does not fit into int8");
    return x;
  }
  fail<InputError>("load", file, ": tensor ", in_quotes(name), " is stored as ", stored.dtype,
                   ", which is not supported: expected F32, F16, BF16, F64, I64, I32, I8, U8 or BOOL");
}

std::string in_quotes(std::string_view text) {
  using nlohmann::json;
  std::string start(text.substr(0, 120));
  return json(start).dump(-1, ' ', false, json::error_handler_t::replace) + (text.size() > start.size() ? "…" : "");
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

}  // namespace attend
