#include "attend/text/pattern.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/small_stack.h"

namespace attend::test {
namespace {

/// All matches, joined by bars.
std::string matches(const Pattern& pattern, std::string_view text) {
  std::string joined;
  PatternSearch search(pattern, text);
  while (const auto match = search.next())
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
  const std::string text(40, 'a');
  EXPECT_THROW(PatternSearch(pattern, text).next(), InputError);
}

TEST(Pattern, LongRunsNeedNoStack) {
  const std::string text(1 << 20, 'a');
  const Pattern pattern = Pattern::regex(R"(\p{L}+)");
  EXPECT_EQ(PatternSearch(pattern, text).next()->end, text.size());
}

/// The number of matches, found by a thread with a stack of 256 kB.
std::int64_t count_with_small_stack(const Pattern& pattern, const std::string& text) {
  std::int64_t matches = 0;
  run_with_small_stack([&] {
    PatternSearch search(pattern, text);
    while (search.next()) ++matches;
  });
  return matches;
}

TEST(Pattern, RepeatedGroupsNeedNoStack) {
  const std::string letters(60'000, 'a'), digits(60'000, '1');
  EXPECT_EQ(count_with_small_stack(Pattern::regex("(?:a|b)+"), letters), 1);
  EXPECT_EQ(count_with_small_stack(Pattern::regex("(?:a|b)+?c"), letters), 0);
  EXPECT_EQ(count_with_small_stack(Pattern::regex("(?:ab|a)++"), letters), 1);
  EXPECT_EQ(count_with_small_stack(Pattern::regex("(?:a*b?)*"), letters), 1);
  EXPECT_EQ(count_with_small_stack(Pattern::regex(R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))"), digits), 20'000);
}

TEST(Pattern, DigitsAreGroupedFromTheEnd) {
  const Pattern pattern = Pattern::regex(R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))");
  EXPECT_EQ(matches(pattern, "1234567 89 x123"), "1|234|567|89|123");
  // Long enough for the search to remember states.
  std::string text(10'000, '7'), expected = "7";
  for (int i = 0; i < 3333; ++i) expected += "|777";
  EXPECT_EQ(matches(pattern, text), expected);
}

TEST(Pattern, StepsGrowWithTheTextAndNotWithItsSquare) {
  const auto steps = [](const Pattern& pattern, const std::string& text) {
    PatternSearch search(pattern, text);
    while (search.next()) continue;
    return search.steps();
  };
  for (const auto& [expression, unit] :
       std::vector<std::pair<const char*, std::string>>{{"a*b", "a"},
                                                        {"a*a*b", "a"},
                                                        {"a*+b|a", "a"},
                                                        {"a*?b", "a"},
                                                        {"(?:a|b)+c", "ab"},
                                                        {"(?:ab)++c|a", "ab"},
                                                        {"(?:a+)+b", "a"},
                                                        {"(?:a|aa)+b", "a"},
                                                        {"a(?=.*b)", "a"},
                                                        {"a(?=.*a)", "a"},
                                                        {"a(?!.*+b)", "a"},
                                                        {R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))", "1"},
                                                        {R"(\p{N}{1,3}(?=(?:\p{N}{3})*$))", "1"}}) {
    std::string text, twice;
    while (text.size() < 50'000) text += unit;
    twice = text + text;
    const Pattern pattern = Pattern::regex(expression);
    EXPECT_LT(steps(pattern, twice), 2.5 * static_cast<double>(steps(pattern, text))) << expression;
    EXPECT_LT(steps(pattern, text), 100 * static_cast<std::int64_t>(text.size())) << expression;
  }
}

TEST(Pattern, ManyStepsAreAnErrorThatTellsTheLimit) {
  const std::string text(100, 'a');
  const Pattern pattern = Pattern::regex("(a*)*b");
  EXPECT_ERROR(PatternSearch(pattern, text).next(), "more than 60000 steps in a text of 100 bytes");
}

TEST(Pattern, LargeExpressionsAreErrors) {
  EXPECT_THROW(Pattern::regex("((((a{1,9}b){1,100}){1,100}){1,100}){1,100}"), InputError);
  EXPECT_THROW(Pattern::regex("a{3,2}"), InputError);
}

TEST(Pattern, SearchesOfOneThreadDoNotDisturbEachOther) {
  const Pattern words = Pattern::regex(R"(\w+)"), letters = Pattern::regex(R"(\p{L})");
  std::string found;
  PatternSearch outer(words, "ab c1");
  while (const auto word = outer.next()) {
    const std::string text = std::string("ab c1").substr(word->begin, word->end - word->begin);
    PatternSearch inner(letters, text);
    while (const auto letter = inner.next()) found += text[letter->begin];
    found += '|';
  }
  EXPECT_EQ(found, "ab|c|");
}

}  // namespace
}  // namespace attend::test
