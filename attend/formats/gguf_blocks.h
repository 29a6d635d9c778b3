// The block formats of GGUF files: groups of weights that share scales. They are decoded to float32.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace attend {

/// A format whose rows consist of blocks of `elements` weights in `bytes` bytes.
struct BlockFormat {
  std::string_view name;  ///< as llama.cpp writes it: "Q4_K"
  std::uint32_t type;     ///< its number in GGUF files
  std::int64_t elements, bytes;
  void (*decode)(const std::byte* block, float* values);
};

/// The format with this name, or null.
const BlockFormat* block_format(std::string_view name);
/// The format with this number, or null.
const BlockFormat* block_format(std::uint32_t type);

/// Decodes whole blocks, on all threads. `values` has room for their weights.
void decode_blocks(const BlockFormat& format, std::span<const std::byte> blocks, std::span<float> values);

}  // namespace attend
