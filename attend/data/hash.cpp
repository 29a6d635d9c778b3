#include "attend/data/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace attend {
namespace {

__extension__ using Wide = unsigned __int128;

/// Odd constants with well-mixed bits: the fractions of π, e, √2 and √3.
constexpr std::uint64_t kPi = 0x243F6A8885A308D3, kE = 0xB7E151628AED2A6B, kRoot2 = 0x6A09E667F3BCC909,
                        kRoot3 = 0xBB67AE8584CAA73B;

/// XOR of both halves of a 128-bit product: each bit of the result depends on all bits of both numbers.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t word_at(std::string_view text, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

}  // namespace

Hash128 hash_text(std::string_view text, std::uint64_t seed) {
  std::uint64_t a = seed ^ kPi, b = mix(seed ^ kRoot2, kE) ^ text.size();
  for (std::size_t at = 0; at < text.size(); at += 8) {
    const std::uint64_t word = word_at(text, at);
    // Two lanes with different rules. The state is added back, since a product of 0 would lose it.
    a = std::rotl(a, 29) + mix(a ^ word, kE);
    b = std::rotl(b, 41) + mix(b ^ (word + kRoot3), kRoot2);
  }
  const std::uint64_t high = mix(a ^ std::rotl(b, 32), kRoot3) + b;
  return {high, mix(b ^ high, kPi) + a};
}

Hash128 hash_pair(std::string_view first, std::string_view second, std::uint64_t seed) {
  const Hash128 one = hash_text(first, seed), two = hash_text(second, seed ^ kE);
  return {mix(one.high ^ kPi, two.high ^ kRoot2) + one.low, mix(one.low ^ kE, two.low ^ kRoot3) + two.high};
}

std::size_t HashSet::slot_of(Hash128 hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash.low & mask;
  while (slots_[slot] != Hash128{} && slots_[slot] != hash) slot = (slot + 1) & mask;
  return slot;
}

bool HashSet::insert(Hash128 hash) {
  if (hash == Hash128{}) hash.low = 1;
  if (static_cast<std::size_t>(size_) * 4 >= slots_.size() * 3) grow();
  Hash128& slot = slots_[slot_of(hash)];
  if (slot == hash) return false;
  slot = hash;
  ++size_;
  return true;
}

void HashSet::grow() {
  std::vector<Hash128> old(slots_.empty() ? 1024 : 2 * slots_.size());
  old.swap(slots_);
  for (const Hash128& hash : old)
    if (hash != Hash128{}) slots_[slot_of(hash)] = hash;
}

}  // namespace attend
