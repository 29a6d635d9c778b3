// Texts by their 128-bit hash: a hundred million of them are told apart in the memory of their hashes, 16 bytes each.
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

/// The same on every machine. Two of 10⁸ different texts share a hash with a chance of about 10⁻²³. Not for secrets.
Hash128 hash_text(std::string_view text, std::uint64_t seed = 0);
/// Of a pair: texts cannot move from one side to the other.
Hash128 hash_pair(std::string_view first, std::string_view second, std::uint64_t seed = 0);

/// A set of hashes: open addressing, at most 3/4 full, so 21 to 43 bytes for each.
class HashSet {
 public:
  /// Whether it is new.
  bool insert(Hash128 hash);
  std::int64_t size() const { return size_; }

 private:
  void grow();
  std::size_t slot_of(Hash128 hash) const;

  std::vector<Hash128> slots_;  // a power of two; {0, 0} is empty
  std::int64_t size_ = 0;
};

}  // namespace attend
