// A tensor as a file of weights holds it: some bytes, and what they are. What the readers of all such files share, and
// how they word what they found.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/core/tensor.h"
#include "attend/core/wording.h"

namespace attend {

/// The shape may have more dimensions than a Tensor can. Row-major, little-endian, perhaps misaligned.
struct StoredTensor {
  std::string_view dtype;  ///< under its safetensors name: "F32", "BF16", …
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;  ///< as many as shape and dtype ask for
};

/// The bytes of one element, or 0 for a dtype that nobody knows.
std::uint64_t stored_size(std::string_view dtype);
/// The bytes that shape and dtype ask for, or nothing when that overflows.
std::optional<std::uint64_t> stored_bytes(std::string_view dtype, std::span<const std::int64_t> shape);
/// The name under which a dtype is stored.
const char* stored_name(DType dtype);

/// The tensor `name` of a file. F32, F16, BF16, I32 and I8 share the bytes, which `owner` keeps (misaligned ones are
/// copied); I64 becomes int32, BOOL and U8 become int8, F64 becomes float32. Throws [load] when it has more than 4
/// dimensions or another dtype, or when a number does not fit.
Tensor read_stored(const std::string& file, std::string_view name, const StoredTensor& stored,
                   const std::shared_ptr<const void>& owner);

/// A name as it can be shown: in quotation marks, without control characters, not endless.
std::string in_quotes(std::string_view text);
/// "[2, 3]".
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace attend
