// A tensor in a file of weights: its bytes, dtype and shape. Also helpers that the readers of all such files share.
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

/// A stored tensor: row-major and little-endian, possibly misaligned. It may have more dimensions than a Tensor can.
struct StoredTensor {
  std::string_view dtype;  ///< safetensors name: "F32", "BF16", …; or a block format of GGUF: "Q4_K", …
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;  ///< exactly stored_bytes(dtype, shape)
};

/// The size of one element in bytes, or 0 for an unknown dtype and for block formats.
std::uint64_t stored_size(std::string_view dtype);
/// The size of a tensor in bytes, or nothing if it overflows, or if its rows are no whole number of blocks.
std::optional<std::uint64_t> stored_bytes(std::string_view dtype, std::span<const std::int64_t> shape);
/// The safetensors name of a dtype.
const char* stored_name(DType dtype);

/// Converts a stored tensor; `file` and `name` are used in error messages. F32, F16, BF16, I32 and I8 are not copied,
/// unless they are misaligned: the result shares the bytes, and keeps `owner` alive. I64 is converted to int32, BOOL
/// and U8 to int8, F64 and block formats to float32. Throws InputError [load] for more than 4 dimensions, for other
/// dtypes, and if a number is out of range.
Tensor read_stored(const std::string& file, std::string_view name, const StoredTensor& stored,
                   const std::shared_ptr<const void>& owner);

/// A name in quotation marks for messages. Control characters are escaped, and long names are truncated.
std::string in_quotes(std::string_view text);
/// Formats a shape: "[2, 3]".
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace attend
