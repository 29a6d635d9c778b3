// Hashes of texts, and sets of hashes.
#include "attend/data/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace attend {
namespace {

TEST(Hash, DifferentTextsAndPairsHaveDifferentHashes) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::set<std::uint64_t> high, low;
  const auto add = [&](Hash128 hash) {
    seen.insert({hash.high, hash.low}), high.insert(hash.high), low.insert(hash.low);
  };
  for (int i = 0; i < 20'000; ++i) add(hash_text(std::to_string(i)));
  for (std::size_t n = 0; n < 100; ++n) add(hash_text(std::string(n, '\0')));
  add(hash_pair("ab", "c")), add(hash_pair("a", "bc")), add(hash_pair("c", "ab")), add(hash_pair("", "abc"));
  EXPECT_EQ(seen.size(), 20'104U);
  EXPECT_EQ(high.size(), 20'104U);  // for so few texts, half of the bits are enough
  EXPECT_EQ(low.size(), 20'104U);
  EXPECT_NE(hash_text("a", 1), hash_text("a", 2));
}

TEST(Hash, EachBitOfATextChangesHalfOfTheHash) {
  const std::string text = "the quick brown fox jumps";
  const Hash128 base = hash_text(text);
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    const Hash128 hash = hash_text(other);
    const int changed = __builtin_popcountll(hash.high ^ base.high) + __builtin_popcountll(hash.low ^ base.low);
    EXPECT_NEAR(changed, 64, 32) << bit;
  }
}

TEST(Hash, ASetContainsWhatWasInserted) {
  HashSet set;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(set.insert(hash_text(std::to_string(i))));
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(set.insert(hash_text(std::to_string(i))));
  EXPECT_EQ(set.size(), 10'000);
  EXPECT_TRUE(set.insert({}));
  EXPECT_FALSE(set.insert({}));
}

}  // namespace
}  // namespace attend
