#include "attend/text/pattern.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace attend::test {
namespace {

/// All matches, joined by bars.
std::string matches(const Pattern& pattern, std::string_view text) {
  std::string joined;
  for (auto match = pattern.find(text, 0); match; match = pattern.find(text, match->end))
    joined += std::string(joined.empty() ? "" : "|") += text.substr(match->begin, match->end - match->begin);
  return joined;
}

TEST(Pattern, FindsAString) {
  EXPECT_EQ(matches(Pattern::string("ab"), "abcabab"), "ab|ab|ab");
  EXPECT_EQ(matches(Pattern::string(""), "abc"), "");
  EXPECT_EQ(matches(Pattern::string("."), "a.b"), ".");
}

TEST(Pattern, ClassesKnowAllOfUnicode) {
  EXPECT_EQ(matches(Pattern::regex(R"(\p{L}+)"), "été 中文 x1"), "été|中文|x");
  EXPECT_EQ(matches(Pattern::regex(R"([^\s\p{L}\p{N}]+)"), "a, b?! ½"), ",|?!");
  EXPECT_EQ(matches(Pattern::regex(R"(\p{N}{1,3})"), "12345 ٣"), "123|45|٣");
  EXPECT_EQ(matches(Pattern::regex(R"([\r\n]+|\P{Lu})"), "A\r\nb"), "\r\n|b");
  EXPECT_EQ(matches(Pattern::regex(R"(\w+)"), "a½b ৴ _x"), "a½b|_x");
}

TEST(Pattern, RepetitionIsGreedyLazyOrPossessive) {
  EXPECT_EQ(matches(Pattern::regex("a+b"), "aaab"), "aaab");
  EXPECT_EQ(matches(Pattern::regex("a+?"), "aaa"), "a|a|a");
  EXPECT_EQ(matches(Pattern::regex("a++a"), "aaa"), "");
  EXPECT_EQ(matches(Pattern::regex(" {2,}"), "a  b c   d"), "  |   ");
  EXPECT_EQ(matches(Pattern::regex("(ab|c)*d"), "ababcd d"), "ababcd|d");
}

TEST(Pattern, LookaheadConsumesNothing) {
  EXPECT_EQ(matches(Pattern::regex(R"(\s+(?!\S)|\s+)"), "a   b  "), "  | |  ");
  EXPECT_EQ(matches(Pattern::regex("a(?=b)"), "ac ab"), "a");
}

TEST(Pattern, CaseCanBeIgnored) {
  EXPECT_EQ(matches(Pattern::regex("(?i:'s|'ll)"), "'S'LL's"), "'S|'LL|'s");
  EXPECT_EQ(matches(Pattern::regex("(?i:a)b"), "AB Ab"), "Ab");
}

TEST(Pattern, UnsupportedFeaturesAreErrors) {
  for (const char* text : {"(?<=a)b", "(", "a)", "[a", "*a", "a**", R"(\p{Han})", R"(\1)", "a{x}", "[b-a]", "[a&&b]"})
    EXPECT_THROW(Pattern::regex(text), InputError) << text;
}

TEST(Pattern, ExponentialBacktrackingIsAnError) {
  const Pattern pattern = Pattern::regex("(a*)*b");
  EXPECT_THROW(pattern.find(std::string(40, 'a'), 0), InputError);
}

TEST(Pattern, LongRunsNeedNoStack) {
  const std::string text(1 << 20, 'a');
  EXPECT_EQ(Pattern::regex(R"(\p{L}+)").find(text, 0)->end, text.size());
}

}  // namespace
}  // namespace attend::test
