#include "attend/formats/gguf_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "attend/core/convert.h"
#include "attend/core/threads.h"

namespace attend {
namespace {

/// Reads the fields of a block one after the other.
class BlockReader {
 public:
  explicit BlockReader(const std::byte* block) : at_(block) {}

  float f16() {
    std::uint16_t bits;
    std::memcpy(&bits, bytes(sizeof bits), sizeof bits);
    return float_from_f16(bits);
  }
  std::uint32_t u32() {
    std::uint32_t value;
    std::memcpy(&value, bytes(sizeof value), sizeof value);
    return value;
  }
  const std::uint8_t* bytes(std::size_t count) {
    const auto* here = reinterpret_cast<const std::uint8_t*>(at_);
    at_ += count;
    return here;
  }
  const std::int8_t* signed_bytes(std::size_t count) { return reinterpret_cast<const std::int8_t*>(bytes(count)); }

 private:
  const std::byte* at_;
};

constexpr int kSmall = 32;   // weights of a block of the older formats
constexpr int kLarge = 256;  // and of the K formats

// The older formats hold weight j in the lower half of byte j, and weight j + 16 in its upper half. The 5-bit formats
// have the highest bits in a word of their own.

void decode_q4_0(const std::byte* block, float* y) {
  BlockReader read(block);
  const float scale = read.f16();
  const std::uint8_t* q = read.bytes(16);
  for (int j = 0; j < 16; ++j) {
    y[j] = scale * static_cast<float>((q[j] & 15) - 8);
    y[j + 16] = scale * static_cast<float>((q[j] >> 4) - 8);
  }
}

void decode_q4_1(const std::byte* block, float* y) {
  BlockReader read(block);
  const float scale = read.f16(), least = read.f16();
  const std::uint8_t* q = read.bytes(16);
  for (int j = 0; j < 16; ++j) {
    y[j] = scale * static_cast<float>(q[j] & 15) + least;
    y[j + 16] = scale * static_cast<float>(q[j] >> 4) + least;
  }
}

void decode_q5_0(const std::byte* block, float* y) {
  BlockReader read(block);
  const float scale = read.f16();
  const std::uint32_t high = read.u32();
  const std::uint8_t* q = read.bytes(16);
  for (int j = 0; j < 16; ++j) {
    const int first = (q[j] & 15) | static_cast<int>(high >> j & 1) << 4;
    const int second = (q[j] >> 4) | static_cast<int>(high >> (j + 16) & 1) << 4;
    y[j] = scale * static_cast<float>(first - 16);
    y[j + 16] = scale * static_cast<float>(second - 16);
  }
}

void decode_q5_1(const std::byte* block, float* y) {
  BlockReader read(block);
  const float scale = read.f16(), least = read.f16();
  const std::uint32_t high = read.u32();
  const std::uint8_t* q = read.bytes(16);
  for (int j = 0; j < 16; ++j) {
    const int first = (q[j] & 15) | static_cast<int>(high >> j & 1) << 4;
    const int second = (q[j] >> 4) | static_cast<int>(high >> (j + 16) & 1) << 4;
    y[j] = scale * static_cast<float>(first) + least;
    y[j + 16] = scale * static_cast<float>(second) + least;
  }
}

void decode_q8_0(const std::byte* block, float* y) {
  BlockReader read(block);
  const float scale = read.f16();
  const std::int8_t* q = read.signed_bytes(kSmall);
  for (int j = 0; j < kSmall; ++j) y[j] = scale * static_cast<float>(q[j]);
}

/// Scale and minimum of group j of 32 weights: 6 bits each, the eight pairs packed in 12 bytes.
struct GroupScale {
  int scale, least;
};
GroupScale group_scale(const std::uint8_t* packed, int j) {
  if (j < 4) return {packed[j] & 63, packed[j + 4] & 63};
  return {(packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4, (packed[j + 4] >> 4) | (packed[j] >> 6) << 4};
}

/// Q4_K and Q5_K: bytes of 64 weights each, first the lower halves, then the upper ones. Q5_K has the highest bit of
/// weight i of group j in bit j of high[i].
void decode_groups(const std::byte* block, float* y, bool five_bits) {
  BlockReader read(block);
  const float scale = read.f16(), least = read.f16();
  const std::uint8_t* packed = read.bytes(12);
  const std::uint8_t* high = five_bits ? read.bytes(32) : nullptr;
  const std::uint8_t* q = read.bytes(kLarge / 2);
  for (int group = 0; group < 8; ++group) {
    const GroupScale own = group_scale(packed, group);
    const float by = scale * static_cast<float>(own.scale), minus = least * static_cast<float>(own.least);
    const std::uint8_t* from = q + group / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      int value = group % 2 ? from[i] >> 4 : from[i] & 15;
      if (five_bits) value |= (high[i] >> group & 1) << 4;
      y[group * 32 + i] = by * static_cast<float>(value) - minus;
    }
  }
}
void decode_q4_k(const std::byte* block, float* y) { decode_groups(block, y, false); }
void decode_q5_k(const std::byte* block, float* y) { decode_groups(block, y, true); }

/// Two halves of 128 weights. Of each weight, 4 bits are in `low` and 2 in `high`; 16 weights share a scale.
void decode_q6_k(const std::byte* block, float* y) {
  BlockReader read(block);
  const std::uint8_t* low = read.bytes(kLarge / 2);
  const std::uint8_t* high = read.bytes(kLarge / 4);
  const std::int8_t* scales = read.signed_bytes(kLarge / 16);
  const float scale = read.f16();
  for (int at = 0; at < kLarge; ++at) {
    const int half = at / 128, part = at % 128 / 32, i = at % 32;
    const std::uint8_t nibbles = low[half * 64 + part % 2 * 32 + i];
    const int value = (part < 2 ? nibbles & 15 : nibbles >> 4) | (high[half * 32 + i] >> (2 * part) & 3) << 4;
    y[at] = scale * static_cast<float>(scales[at / 16]) * static_cast<float>(value - 32);
  }
}

constexpr std::array kFormats = {
    BlockFormat{"Q4_0", 2, kSmall, 18, decode_q4_0},   BlockFormat{"Q4_1", 3, kSmall, 20, decode_q4_1},
    BlockFormat{"Q5_0", 6, kSmall, 22, decode_q5_0},   BlockFormat{"Q5_1", 7, kSmall, 24, decode_q5_1},
    BlockFormat{"Q8_0", 8, kSmall, 34, decode_q8_0},   BlockFormat{"Q4_K", 12, kLarge, 144, decode_q4_k},
    BlockFormat{"Q5_K", 13, kLarge, 176, decode_q5_k}, BlockFormat{"Q6_K", 14, kLarge, 210, decode_q6_k},
};

}  // namespace

const BlockFormat* block_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &BlockFormat::name);
  return found == kFormats.end() ? nullptr : &*found;
}

const BlockFormat* block_format(std::uint32_t type) {
  const auto found = std::ranges::find(kFormats, type, &BlockFormat::type);
  return found == kFormats.end() ? nullptr : &*found;
}

void decode_blocks(const BlockFormat& format, std::span<const std::byte> blocks, std::span<float> values) {
  constexpr std::int64_t kAtOnce = 1024;
  const std::int64_t count = std::ssize(blocks) / format.bytes;
  parallel_for(count, kAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      format.decode(blocks.data() + i * format.bytes, values.data() + i * format.elements);
  });
}

}  // namespace attend
