#include "attend/tasks/masked_lm/masking.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace attend {
namespace {

TEST(PreTraining, HidesTheShareThatIsAskedForAsDevlinDoes) {
  std::vector<std::int32_t> ids(20002);
  std::vector<std::uint8_t> begins(ids.size(), 1);
  std::iota(ids.begin(), ids.end(), 1000);
  begins.front() = begins.back() = 2;  // special
  const std::vector<std::int32_t> before = ids;
  const MaskingOptions options{.mask = 7, .words = {1, 2, 3}};
  const Hidden hidden = hide(ids, begins, options, {1, 2});
  EXPECT_EQ(hidden.places.size(), 3000u);
  EXPECT_EQ(std::set(hidden.places.begin(), hidden.places.end()).size(), 3000u);
  std::int64_t masked = 0, random = 0, same = 0;
  for (std::size_t i = 0; i < hidden.places.size(); ++i) {
    const auto place = static_cast<std::size_t>(hidden.places[i]);
    EXPECT_EQ(hidden.words[i], before[place]);
    masked += ids[place] == 7, random += ids[place] < 4, same += ids[place] == before[place];
  }
  EXPECT_NEAR(static_cast<double>(masked), 2400, 120);
  EXPECT_NEAR(static_cast<double>(random), 300, 90);
  EXPECT_EQ(masked + random + same, 3000);
  EXPECT_EQ(ids.front(), before.front());
  std::vector<std::int32_t> again = before, other = before;
  EXPECT_EQ(hide(again, begins, options, {1, 2}).places, hidden.places);
  EXPECT_EQ(again, ids);
  EXPECT_NE(hide(other, begins, options, {1, 3}).places, hidden.places);
}

TEST(PreTraining, WholeWordsAreHiddenWholeAndAShortTextHidesOne) {
  std::vector<std::int32_t> ids(302);
  std::vector<std::uint8_t> begins(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) begins[i] = i % 3 == 1;  // words of three pieces
  begins.front() = begins.back() = 2;
  const Hidden hidden = hide(ids, begins, {.whole_words = true, .mask = 7}, {1, 2});
  EXPECT_EQ(hidden.places.size(), 45u);
  for (std::size_t i = 0; i < hidden.places.size(); i += 3) {
    EXPECT_EQ(hidden.places[i] % 3, 1);
    EXPECT_EQ(hidden.places[i + 2], hidden.places[i] + 2);
  }
  std::vector<std::int32_t> one{5, 6, 5}, none{5, 5};
  EXPECT_EQ(hide(one, {2, 1, 2}, {.mask = 7}, {1, 2}).words, std::vector<std::int32_t>{6});
  EXPECT_TRUE(hide(none, {2, 2}, {.mask = 7}, {1, 2}).places.empty());
}

}  // namespace
}  // namespace attend
