#include "attend/tasks/masked_lm/masking.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace attend {
namespace {

TEST(PreTraining, MasksTheRequestedFractionOfTokens) {
  std::vector<std::int32_t> ids(20002);
  std::vector<std::uint8_t> begins(ids.size(), 1);
  std::iota(ids.begin(), ids.end(), 1000);
  begins.front() = begins.back() = 2;  // special
  const std::vector<std::int32_t> before = ids;
  const MaskingOptions options{.mask = 7, .random_ids = {1, 2, 3}};
  const MaskedTokens masked = mask_tokens(ids, begins, options, {1, 2});
  EXPECT_EQ(masked.positions.size(), 3000u);
  EXPECT_EQ(std::set(masked.positions.begin(), masked.positions.end()).size(), 3000u);
  std::int64_t replaced = 0, random = 0, same = 0;
  for (std::size_t i = 0; i < masked.positions.size(); ++i) {
    const auto place = static_cast<std::size_t>(masked.positions[i]);
    EXPECT_EQ(masked.ids[i], before[place]);
    replaced += ids[place] == 7, random += ids[place] < 4, same += ids[place] == before[place];
  }
  EXPECT_NEAR(static_cast<double>(replaced), 2400, 120);
  EXPECT_NEAR(static_cast<double>(random), 300, 90);
  EXPECT_EQ(replaced + random + same, 3000);
  EXPECT_EQ(ids.front(), before.front());
  std::vector<std::int32_t> again = before, other = before;
  EXPECT_EQ(mask_tokens(again, begins, options, {1, 2}).positions, masked.positions);
  EXPECT_EQ(again, ids);
  EXPECT_NE(mask_tokens(other, begins, options, {1, 3}).positions, masked.positions);
}

TEST(PreTraining, MasksWholeWordsAndAtLeastOneToken) {
  std::vector<std::int32_t> ids(302);
  std::vector<std::uint8_t> begins(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) begins[i] = i % 3 == 1;  // words of three tokens
  begins.front() = begins.back() = 2;
  const MaskedTokens masked = mask_tokens(ids, begins, {.whole_words = true, .mask = 7}, {1, 2});
  EXPECT_EQ(masked.positions.size(), 45u);
  for (std::size_t i = 0; i < masked.positions.size(); i += 3) {
    EXPECT_EQ(masked.positions[i] % 3, 1);
    EXPECT_EQ(masked.positions[i + 2], masked.positions[i] + 2);
  }
  std::vector<std::int32_t> one{5, 6, 5}, none{5, 5};
  EXPECT_EQ(mask_tokens(one, {2, 1, 2}, {.mask = 7}, {1, 2}).ids, std::vector<std::int32_t>{6});
  EXPECT_TRUE(mask_tokens(none, {2, 2}, {.mask = 7}, {1, 2}).positions.empty());
}

}  // namespace
}  // namespace attend
