// 128-bit hashes of texts, and a set of hashes: duplicates among 100 million texts are found with 21 to 43 bytes each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace attend {

struct Hash128 {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Hash128&) const = default;
  bool operator<(const Hash128& other) const { return high != other.high ? high < other.high : low < other.low; }
};

/// The same on every machine. The probability that any two of 10⁸ different texts share a hash is about 10⁻²³. Not
/// cryptographic.
Hash128 hash_text(std::string_view text, std::uint64_t seed = 0);
/// The hash of a pair; ("ab", "c") and ("a", "bc") have different hashes.
Hash128 hash_pair(std::string_view first, std::string_view second, std::uint64_t seed = 0);

/// A set of hashes with open addressing. It is at most 3/4 full, so a hash takes 21 to 43 bytes.
class HashSet {
 public:
  /// Returns whether the hash is new.
  bool insert(Hash128 hash);
  std::int64_t size() const { return size_; }

 private:
  void grow();
  std::size_t slot_of(Hash128 hash) const;

  std::vector<Hash128> slots_;  // size is a power of two; {0, 0} marks a free slot
  std::int64_t size_ = 0;
};

}  // namespace attend
