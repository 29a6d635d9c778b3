// Valid and invalid UTF-8, compared with the examples of the Unicode standard.
#include "attend/text/unicode.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

TEST(Utf8, EveryCodePointIsDecodedAsItWasEncoded) {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value < 0xE000) continue;
    std::string text;
    append_utf8(value, text);
    const CodePoint c = decode_utf8(text, 0);
    ASSERT_TRUE(c.valid && c.value == value && static_cast<std::size_t>(c.size) == text.size())
        << static_cast<std::uint32_t>(value);
  }
}

TEST(Utf8, EachMaximalPartOfABrokenSequenceIsReplacedOnce) {
  // The examples of the Unicode standard, tables 3-8 to 3-11.
  const std::string r = "\xEF\xBF\xBD";
  const auto times = [&](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += r;
    return text;
  };
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), times(8) + "A");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), times(8) + "A");
  EXPECT_EQ(replace_invalid_utf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), times(5) + "A" + times(2) + "B");
  EXPECT_EQ(replace_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), times(4) + "A");
  EXPECT_EQ(count_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), 4);
}

TEST(Utf8, ValidTextHasNothingToReplace) {
  const std::string text = "plain, perché, 漢字, \xF0\x9F\x98\x80";
  EXPECT_EQ(count_invalid_utf8(text), 0);
  EXPECT_EQ(replace_invalid_utf8(text), text);
  EXPECT_EQ(count_code_points("perché漢\xF0\x9F\x98\x80"), 8);
}

TEST(Utf8, OnlyABeginningThatCanStillBecomeACharacterIsUnfinished) {
  EXPECT_EQ(unfinished_utf8(""), 0U);
  EXPECT_EQ(unfinished_utf8("abc"), 0U);
  EXPECT_EQ(unfinished_utf8("a\xC3"), 1U);
  EXPECT_EQ(unfinished_utf8("a\xE2\x82"), 2U);
  EXPECT_EQ(unfinished_utf8("a\xF0\x9F\x98"), 3U);
  EXPECT_EQ(unfinished_utf8("a\xF0\x9F\x98\x80"), 0U);
  EXPECT_EQ(unfinished_utf8("\xE0\x80"), 0U);  // cannot become valid
  EXPECT_EQ(unfinished_utf8("\x80\x80\x80\x80"), 0U);
}

TEST(Utf8, CuttingAtTheUnfinishedEndReplacesTheSameAsTheWhole) {
  const std::string text = "a\xC3\xA9\xE2\x82\xF0\x9F\x98\x80\xFF\xE2\x82\xAC\xF0\x9F";
  const std::string whole = replace_invalid_utf8(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::size_t keep = cut - unfinished_utf8(text.substr(0, cut));
    EXPECT_EQ(replace_invalid_utf8(text.substr(0, keep)) + replace_invalid_utf8(text.substr(keep)), whole) << cut;
  }
}

}  // namespace
}  // namespace attend
