#include "attend/attention/prefix_cache.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::int64_t kBlock = PrefixCache::kBlock;
constexpr std::int64_t kBytes = sizeof(float);  // of a block in these tests

Ids text(std::int64_t tokens, std::int32_t first = 0) {
  Ids ids(static_cast<std::size_t>(tokens), 7);
  if (!ids.empty()) ids[0] = first;
  return ids;
}
/// Adds a text whose blocks hold the number of their first token plus `value`.
void add(PrefixCache& cache, const Ids& ids, float value = 0.f, std::int64_t kind = 0) {
  cache.add(
      ids, [value](std::int64_t first) { return Tensor::full({1}, static_cast<float>(first) + value); }, kind);
}
std::vector<float> found(PrefixCache& cache, const Ids& ids, std::int64_t kind = 0) {
  std::vector<float> values;
  for (const Tensor& block : cache.find(ids, kind)) values.push_back(block.data()[0]);
  return values;
}

TEST(PrefixCache, FindsTheWholeBlocksThatTextsHaveInCommon) {
  PrefixCache cache(1 << 20);
  Ids one = text(3 * kBlock + 5), other = one;
  add(cache, one);
  EXPECT_EQ(cache.bytes(), 3 * kBytes) << "a part of a block is not kept";
  EXPECT_EQ(found(cache, one), (std::vector<float>{0.f, kBlock, 2.f * kBlock}));
  EXPECT_EQ(cache.matching(one), 3 * kBlock);
  one.resize(2 * kBlock - 1);
  EXPECT_EQ(cache.matching(one), kBlock);
  other[2 * kBlock + 1] = 8;
  EXPECT_EQ(cache.matching(other), 2 * kBlock);
  add(cache, other, 0.5f);
  EXPECT_EQ(cache.bytes(), 4 * kBytes) << "the common beginning is kept once";
  EXPECT_EQ(found(cache, other), (std::vector<float>{0.f, kBlock, 2.f * kBlock + 0.5f}));
  EXPECT_EQ(cache.matching(text(kBlock, 1)), 0);
  EXPECT_EQ(cache.matching({}), 0);
}

TEST(PrefixCache, ModelsAndKindsOfTextsShareTheLimitOnly) {
  PrefixCache cache(3 * kBytes);
  PrefixCache other = cache.for_another_model();
  const Ids ids = text(kBlock);
  add(cache, ids, 1.f), add(cache, ids, 2.f, /*kind=*/1);
  EXPECT_EQ(other.matching(ids), 0);
  add(other, ids, 3.f);
  EXPECT_EQ(found(cache, ids), std::vector<float>{1.f});
  EXPECT_EQ(found(cache, ids, 1), std::vector<float>{2.f});
  EXPECT_EQ(found(other, ids), std::vector<float>{3.f});
  add(other, text(kBlock, 5));
  EXPECT_EQ(cache.bytes(), 3 * kBytes);
  EXPECT_EQ(cache.matching(ids), 0) << "not used for the longest time";
}

TEST(PrefixCache, DropsTheEndsOfTextsThatWereNotUsedForTheLongestTime) {
  PrefixCache cache(4 * kBytes);
  const Ids first = text(2 * kBlock, 1), second = text(2 * kBlock, 2), third = text(kBlock, 3);
  add(cache, first), add(cache, second);
  found(cache, first);
  add(cache, third);
  EXPECT_EQ(cache.matching(first), 2 * kBlock);
  EXPECT_EQ(cache.matching(second), kBlock) << "the beginning may serve others";
  EXPECT_EQ(cache.matching(third), kBlock);
  const Ids long_one = text(9 * kBlock, 4);
  add(cache, long_one);
  EXPECT_EQ(cache.matching(long_one), 4 * kBlock) << "as much as fits";
  EXPECT_EQ(cache.bytes(), 4 * kBytes);
}

TEST(PrefixCache, GivesMemoryBackWhenThereIsLessRoom) {
  std::int64_t room = 100;
  PrefixCache cache(3 * kBytes, [&room] { return room; });
  add(cache, text(5 * kBlock));
  EXPECT_EQ(cache.bytes(), 3 * kBytes);
  room = kBytes;
  cache.trim();
  EXPECT_EQ(cache.matching(text(5 * kBlock)), kBlock);
  room = -5;
  cache.trim();
  EXPECT_EQ(cache.bytes(), 0);
  add(cache, text(5 * kBlock));
  EXPECT_EQ(cache.bytes(), 0);
}

}  // namespace
}  // namespace attend
