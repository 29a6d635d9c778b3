#include "attend/text/grammar/grammar.h"

#include <gtest/gtest.h>

#include <chrono>

#include "attend/core/error.h"
#include "attend/text/grammar/character_ranges.h"
#include "attend/text/grammar/grammar_matcher.h"
#include "tests/support/errors.h"
#include "tests/support/small_stack.h"

namespace attend {
namespace {

void expect_texts(const char* gbnf, const std::vector<std::string>& conform, const std::vector<std::string>& others) {
  const Grammar grammar(gbnf);
  for (const std::string& text : conform) EXPECT_TRUE(grammar.accepts(text)) << gbnf << "\n" << text;
  for (const std::string& text : others) EXPECT_FALSE(grammar.accepts(text)) << gbnf << "\n" << text;
}

/// The grammars and texts are those of llama.cpp's integration test of grammars, rewritten.
TEST(Grammar, AcceptsTheTextsThatLlamaCppAccepts) {
  expect_texts(R"(root ::= expr
expr ::= term ("+" term)*
term ::= number
number ::= [0-9]+)",
               {"42", "1+2+3+4+5", "123+456"}, {"+", "1 + 2", "1+2+3+4+", "/ 3", ""});
  expect_texts(R"_(root ::= expression
expression ::= term ws (("+"|"-") ws term)*
term ::= factor ws (("*"|"/") ws factor)*
factor ::= number | variable | "(" expression ")" | function-call
number ::= [0-9]+
variable ::= [a-zA-Z_][a-zA-Z0-9_]*
function-call ::= variable ws "(" (expression ("," ws expression)*)? ")"
ws ::= [ \t\n\r]?)_",
               {"42", "1*2*3*4*5", "x", "x+10", "x1+y2", "(a+b)*(c-d)", "func()", "func(x,y+2)", "a*(b+c)-d/e",
                "f(g(x),h(y,z))", "x + 10", "x1 + y2", "(a + b) * (c - d)"},
               {"+", "1 + 2 + 3 +", "(a + b) * (c - d", "func(", "func(x, y + 2", "x + + y", "a * / b", "f(,)", "f(a)b",
                "\x80"});
  expect_texts(R"(root ::= [a-z]*)", {"", "a", "abc"}, {"A", "1"});
  expect_texts(R"(root ::= [a-z]+)", {"a", "aaaaaaaaaaaa"}, {"", "A"});
  expect_texts(R"(root ::= "aaa"?)", {"", "aaa"}, {"a", "aa", "aaaa"});
  expect_texts(R"(root ::= "a"{4})", {"aaaa"}, {"", "a", "aaa", "aaaaa"});
  expect_texts(R"(root ::= "a"{2,4})", {"aa", "aaa", "aaaa"}, {"", "a", "aaaaa"});
  expect_texts(R"(root ::= "a"{0,2} "b"{1,})", {"b", "ab", "aabbbb"}, {"a", "aaab", ""});
  expect_texts(R"(root ::= ("0x" [A-F0-9]{2} " "?){2,3})", {"0xFF 0x12 0xAB", "0xFF0x12"},
               {"0xFF", "0xFF 0x12 0xAB 0x00 0x00"});
  expect_texts("root ::= .{3}", {"abc", "\n\n\n", "äß€", "😀😀😀"}, {"ab", "abcd", "\xC3\xA4z", "ab\xC3"});
  expect_texts(R"(root ::= [^\n"]+)", {"a", "ö€😀", "\\"},
               {"", "\n", "a\"", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80"});
}

TEST(Grammar, ReadsEscapesCommentsGroupsAndLinesThatGoOn) {
  expect_texts(
      "# a comment\nroot ::= # here, too\n  (\"a\" # in a group\n  | \"b\"\n  )  |\n  end\r\n\nend ::= "
      "\"\\x41\\u00e4\\U0001F600\\n\\t\\r\\\\\\\"\\[\\]\"",
      {"a", "b", "A\u00e4\U0001F600\n\t\r\\\"[]"}, {"c"});
  expect_texts(R"(root ::= "" ( ) | [] "a")", {""}, {"a"});
  expect_texts(R"(root ::= [\x41-\x43\]\\a-])", {"A", "C", "]", "\\", "-", "a"}, {"D", "b"});
  expect_texts("root ::= [à-ý€😀-😂]", {"á", "€", "😁"}, {"a", "😃", "\xC3"});
  expect_texts("root ::= | \"x\"", {"", "x"}, {"y"});
  expect_texts("root ::= (\"a\"*)* \"b\"", {"b", "aaab"}, {"a", "ba"});
  expect_texts("root ::= one-1 one_2\none-1 ::= \"1\"\none_2 ::= \"2\"", {"12"}, {"1", "2"});
}

TEST(Grammar, RecursionNests) {
  const char* gbnf = R"_(root ::= "(" root ")" | "[" root* "]" | "x")_";
  expect_texts(gbnf, {"x", "((x))", "[]", "[x(x)[[]]]"}, {"(x", "()", "(x]", "xx"});
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "x" + std::string(depth, ')'); };
  EXPECT_TRUE(Grammar(gbnf).accepts(nested(400)));
  EXPECT_FALSE(Grammar(gbnf).accepts(nested(600))) << "deeper than a grammar may nest";
  EXPECT_TRUE(Grammar("root ::= \"a\" root | \"b\"").accepts(std::string(100000, 'a') + "b")) << "no nesting";
}

TEST(Grammar, AmbiguityDoesNotMultiplyStacks) {
  // 2^n ways to read n times "a".
  const Grammar grammar(R"(root ::= s
s ::= "a" s "b" | "a" s "c" | "a" s | "")");
  EXPECT_TRUE(grammar.accepts(std::string(300, 'a') + std::string(150, 'b') + std::string(150, 'c')));
  EXPECT_FALSE(grammar.accepts(std::string(100, 'a') + std::string(101, 'b')));
}

TEST(Grammar, TimeGrowsInProportionToTheText) {
  const Grammar grammar(R"(root ::= "[" item ("," item)* "]"
item ::= "\"" [^"]* "\"" | root)");
  const auto seconds = [&](std::size_t items) {
    std::string text = "[[\"\"]";
    for (std::size_t i = 0; i < items; ++i) text += ",\"some text\"";
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(grammar.accepts(text + "]"));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  seconds(1000);
  EXPECT_LT(seconds(200000), 150 * (seconds(10000) + 0.001)) << "20 times the text; a square would be 400";
}

TEST(Grammar, AnErrorNamesLineAndColumn) {
  const auto expect_error_for = [](const char* gbnf, const char* part) { EXPECT_ERROR(Grammar(gbnf), part); };
  expect_error_for("", "there is no rule \"root\"");
  expect_error_for("a ::= \"b\"", "there is no rule \"root\"");
  expect_error_for("root ::= a\n  b ::= \"c\"", "line 1, column 10: the rule \"a\" is not defined");
  expect_error_for("root = \"a\"", "line 1, column 6: expected ::= after \"root\", got '='");
  expect_error_for("root ::= \"a\nx", "line 1, column 10: the literal has no closing \"");
  expect_error_for("root ::= \"ä\" [a", "line 1, column 14: the character class has no closing ]");
  expect_error_for("root ::= [z-a]", "line 1, column 11: a range of characters begins after its end");
  expect_error_for("root ::= \"\\q\"", "line 1, column 11: unknown escape");
  expect_error_for("root ::= \"\\uD800\"", "line 1, column 11: there is no such character");
  expect_error_for("root ::= \"\\x4\"", "line 1, column 11: an escape needs 2 hexadecimal digits");
  expect_error_for("root ::=\n\n  (\"a\"\n", "line 4, column 1: expected ) of the group in line 3, got the end");
  expect_error_for("root ::= * \"a\"", "line 1, column 10: there is nothing before '*' to repeat");
  expect_error_for("root ::= \"a\"{,3}", "line 1, column 14: expected a number, got ','");
  expect_error_for("root ::= \"a\"{3,2}", "line 1, column 13: a repetition has its least number first");
  expect_error_for("root ::= \"a\"{99999999999}", "line 1, column 14: a repetition is limited to 65536 times");
  expect_error_for("root ::= \"a\" )", "line 1, column 14: expected the end of the line, got ')'");
  expect_error_for("root ::= \"a\"\nroot ::= \"b\"", "line 2, column 1: the rule \"root\" is defined twice");
  expect_error_for("root ::= a\na ::= \"x\"? b\nb ::= a \"y\" | \"z\"", "is left-recursive");
  expect_error_for("root ::= root", "line 1, column 1: the rule \"root\" is left-recursive");
  expect_error_for("root ::= \"a\" root", "no text conforms to the grammar");
  expect_error_for("root ::= []", "no text conforms to the grammar");
  expect_error_for("root ::= \"\xff\"", "not valid UTF-8");
  std::string wide = "root ::= a\na ::= \"x\"{60000} \"y\"{60000} \"z\"{60000} [a-z]{60000} [0-9]{60000}";
  expect_error_for(wide.c_str(), "the grammar is too large");
  std::string doubles = "root ::= r40\nr0 ::= \"ab\"\n";
  for (int i = 1; i <= 40; ++i)
    doubles += "r" + std::to_string(i) + " ::= r" + std::to_string(i - 1) + " r" + std::to_string(i - 1) + "\n";
  expect_error_for(doubles.c_str(), "the shortest text that conforms is too long");
}

TEST(Grammar, DeepNestingFitsIntoASmallStack) {
  test::run_with_small_stack([] {
    const auto groups = [](std::size_t n) { return "root ::= " + std::string(n, '(') + "\"a\"" + std::string(n, ')'); };
    EXPECT_TRUE(Grammar(groups(100)).accepts("a"));
    EXPECT_THROW(Grammar{groups(101)}, InputError);
    std::string chain = "root ::= r0\n";
    for (int i = 0; i < 20000; ++i) chain += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1) + "\n";
    EXPECT_TRUE(Grammar(chain + "r20000 ::= \"end\"").accepts("end"));
    const Grammar nested(R"_(root ::= "(" root ")" root | "x" | "(" root "]" root)_");
    EXPECT_FALSE(nested.accepts(std::string(100000, '(')));
    GrammarMatcher matcher(nested);
    std::uint32_t set = matcher.start();
    for (int i = 0; i < 480; ++i) set = matcher.step(set, '(');
    EXPECT_EQ(matcher.shortest(set).size(), matcher.shortest_length(set));
  });
}

TEST(GrammarMatcher, TheShortestTextLeadsToAnEndByteByByte) {
  const Grammar grammar(R"(root ::= "{" pair ("," pair){1,3} "}" | "[" root root "]"
pair ::= [a-z]{2,} ":" ("no" | "on" | [0-9]{3,} | root))");
  GrammarMatcher matcher(grammar);
  for (const std::string text : {"", "{", "{ab:", "{ab:1", "[", "[{ab:on,x"}) {
    std::uint32_t set = matcher.start();
    for (const char c : text) set = matcher.step(set, static_cast<unsigned char>(c));
    std::string rest = matcher.shortest(set);
    EXPECT_EQ(rest.size(), matcher.shortest_length(set));
    EXPECT_TRUE(grammar.accepts(text + rest)) << text + rest;
    while (!rest.empty()) {
      set = matcher.step(set, static_cast<unsigned char>(rest[0]));
      rest.erase(0, 1);
      ASSERT_EQ(matcher.shortest(set), rest);
    }
    EXPECT_TRUE(matcher.accepts(set));
  }
  std::uint32_t set = matcher.start();
  EXPECT_EQ(matcher.shortest(set), "{aa:no,aa:no}");
}

TEST(GrammarMatcher, NeverEntersAPlaceWithoutAnEnd) {
  const Grammar grammar(R"(root ::= "a" endless | "ab"
endless ::= "b" endless)");
  GrammarMatcher matcher(grammar);
  const std::uint32_t set = matcher.step(matcher.step(matcher.start(), 'a'), 'b');
  EXPECT_TRUE(matcher.accepts(set));
  EXPECT_EQ(matcher.step(set, 'b'), GrammarMatcher::kDead);
  ByteSet usable = ByteSet().set();
  usable.reset('b');
  GrammarMatcher limited(grammar, usable);
  EXPECT_EQ(limited.start(), GrammarMatcher::kDead) << "no text without b";
}

TEST(CharacterRanges, AreSetsWithoutSurrogates) {
  EXPECT_EQ(normalise({{'d', 'f'}, {'a', 'c'}, {'b', 'e'}}), (CharacterRanges{{'a', 'f'}}));
  EXPECT_EQ(negate(negate({{'x', 'z'}})), (CharacterRanges{{'x', 'z'}}));
  EXPECT_EQ(negate({}), (CharacterRanges{{0, 0xD7FF}, {0xE000, 0x10FFFF}}));
  EXPECT_EQ(intersect({{'a', 'm'}}, {{'k', 'z'}}), (CharacterRanges{{'k', 'm'}}));
  EXPECT_EQ(gbnf_class({{'a', 'z'}, {'-', '-'}, {'\n', '\n'}, {']', ']'}}), R"([a-z\x2D\n\]])");
}

}  // namespace
}  // namespace attend
