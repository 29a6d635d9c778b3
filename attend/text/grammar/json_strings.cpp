#include <algorithm>
#include <vector>

#include "attend/core/error.h"
#include "attend/text/grammar/character_ranges.h"
#include "attend/text/grammar/grammar.h"
#include "attend/text/grammar/json_expressions.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

const CharacterRanges kDigits{{'0', '9'}}, kWordLetters{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
    kSpaces{{'\t', '\r'}, {' ', ' '}}, kAscii{{0, 0x7F}},
    kPlain{{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0x7E}, {0x80, 0x10FFFF}},
    kLineEnds{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

/// One of the characters as a JSON string writes them. Control characters without an escape of one letter are left out,
/// unless there is nothing else.
std::string json_character(const CharacterRanges& characters) {
  std::vector<std::string> alternatives;
  if (const CharacterRanges plain = intersect(characters, kPlain); !plain.empty())
    alternatives.push_back(gbnf_class(plain));
  const auto has = [&](char32_t c) {
    return std::ranges::any_of(characters, [c](const auto& range) { return range.first <= c && c <= range.second; });
  };
  for (const auto& [character, escape] : {std::pair(U'"', "\\\""),
                                          {U'\\', "\\\\"},
                                          {U'\n', "\\n"},
                                          {U'\r', "\\r"},
                                          {U'\t', "\\t"},
                                          {U'\b', "\\b"},
                                          {U'\f', "\\f"}})
    if (has(character)) alternatives.push_back(gbnf_literal(escape));
  if (alternatives.empty())
    for (char32_t c = 0; c <= 0x7F; ++c)
      if (has(c)) {
        constexpr char kHex[] = "0123456789abcdef";
        alternatives.push_back(gbnf_literal(std::string("\\u00") + kHex[c >> 4] + kHex[c & 15]));
      }
  if (alternatives.empty()) return "[]";
  if (alternatives.size() == 1) return alternatives.front();
  std::string all;
  for (const std::string& one : alternatives) all += (all.empty() ? "(" : " | ") + one;
  return all + ")";
}

/// Translates a regular expression.
class PatternTranslator {
 public:
  explicit PatternTranslator(std::string_view pattern) : pattern_(pattern) {}

  std::string translate() {
    if (count_invalid_utf8(pattern_) > 0) fail<InputError>("pattern", "it is not valid UTF-8");
    std::string all = alternatives(0);
    if (!at_end()) fail_here("there is no group to close");
    return all;
  }

 private:
  bool at_end() const { return at_ >= pattern_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0'; }
  [[noreturn]] void fail_here(const auto&... what) const {
    fail<InputError>("pattern", "character ", 1 + count_code_points(pattern_.substr(0, at_)), ": ", what...);
  }
  char32_t take() {
    const CodePoint c = decode_utf8(pattern_, at_);
    at_ += static_cast<std::size_t>(c.size);
    return c.value;
  }

  std::string alternatives(int depth) {
    constexpr int kDeepest = 50;
    if (depth > kDeepest) fail_here("groups are nested more than ", kDeepest, " deep");
    std::string all(1, '(');
    all += sequence(depth);
    while (peek() == '|') {
      ++at_;
      (all += " | ") += sequence(depth);
    }
    return all + ")";
  }

  std::string sequence(int depth) {
    const bool top = depth == 0;
    bool begins = !top, ends = !top;
    if (top && peek() == '^') ++at_, begins = true;
    std::string all = begins ? "\"\"" : "char*";
    while (!at_end() && peek() != '|' && peek() != ')') {
      if (top && peek() == '$' && (at_ + 1 == pattern_.size() || peek(1) == '|')) {
        ++at_, ends = true;
        break;
      }
      (all += " ") += repeated(item(depth));
    }
    return all + (ends ? "" : " char*");
  }

  std::string item(int depth) {
    switch (peek()) {
      case '(': {
        ++at_;
        if (peek() == '?') {
          if (peek(1) != ':') fail_here("groups of the kind (? are not supported, but (?:");
          at_ += 2;
        }
        std::string group = alternatives(depth + 1);
        if (peek() != ')') fail_here("the group has no closing )");
        ++at_;
        return group;
      }
      case '[':
        return json_character(character_class());
      case '.':
        ++at_;
        return json_character(negate(kLineEnds));
      case '\\':
        return json_character(escape());
      case '^':
      case '$':
        fail_here("^ and $ are supported at the ends of the pattern only");
      case '*':
      case '+':
      case '?':
      case '{':
        fail_here("there is nothing to repeat");
      default: {
        const char32_t c = take();
        return json_character({{c, c}});
      }
    }
  }

  std::string repeated(std::string item) {
    std::string count;
    const char c = peek();
    if (c == '*' || c == '+' || c == '?') {
      ++at_;
      count = c;
    } else if (c == '{') {
      const std::size_t end = pattern_.find('}', at_);
      if (end == pattern_.npos) fail_here("the repetition has no closing }");
      const std::string_view inside = pattern_.substr(at_ + 1, end - at_ - 1);
      const std::size_t comma = inside.find(',');
      const std::string_view least = inside.substr(0, comma);
      const std::string_view most = comma == inside.npos ? least : inside.substr(comma + 1);
      const auto is_number = [](std::string_view s) { return s.find_first_not_of("0123456789") == s.npos; };
      if (least.empty() || !is_number(least) || !is_number(most)) fail_here("expected {m}, {m,} or {m,n}");
      count = std::string(1, '{').append(inside) + '}';
      at_ = end + 1;
    } else {
      return item;
    }
    if (peek() == '?') ++at_;  // lazy: the same texts match
    if (peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{') fail_here("there is nothing to repeat");
    return item + count;
  }

  /// The characters of \d, \n, \u0041 and so on.
  CharacterRanges escape() {
    ++at_;
    if (at_end()) fail_here("there is nothing after the backslash");
    const char32_t c = take();
    const auto one = [](char32_t character) { return CharacterRanges{{character, character}}; };
    switch (c) {
      case 'd':
        return kDigits;
      case 'w':
        return kWordLetters;
      case 's':
        return kSpaces;
      // Programs do not agree on letters and digits beyond ASCII.
      case 'D':
        return intersect(negate(kDigits), kAscii);
      case 'W':
        return intersect(negate(kWordLetters), kAscii);
      case 'S':
        return intersect(negate(kSpaces), kAscii);
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 't':
        return one('\t');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case 'x':
        return one(hexadecimal(2));
      case 'u':
        return one(hexadecimal(4));
      default:
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
          fail_here("\\", static_cast<char>(c), " is not supported");
        return one(c);
    }
  }
  char32_t hexadecimal(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const char c = peek();
      const bool digit = c >= '0' && c <= '9', lower = c >= 'a' && c <= 'f', upper = c >= 'A' && c <= 'F';
      if (!digit && !lower && !upper) fail_here("expected ", digits, " hexadecimal digits");
      value = value * 16 + static_cast<char32_t>(digit ? c - '0' : (lower ? c - 'a' : c - 'A') + 10);
    }
    if (value >= 0xD800 && value <= 0xDFFF) fail_here("surrogates are not supported");
    return value;
  }

  CharacterRanges character_class() {
    ++at_;
    const bool negated = peek() == '^';
    if (negated) ++at_;
    CharacterRanges all;
    bool by_kind = false;  // has \w or the like
    while (peek() != ']' || at_end()) {
      if (at_end()) fail_here("the character class has no closing ]");
      const auto next = [&] {
        if (peek() == '\\' && peek(1) == 'b') {
          at_ += 2;
          return CharacterRanges{{'\b', '\b'}};
        }
        if (peek() == '\\') return escape();
        const char32_t c = take();
        return CharacterRanges{{c, c}};
      };
      const auto is_one = [](const CharacterRanges& r) { return r.size() == 1 && r[0].first == r[0].second; };
      CharacterRanges first = next();
      if (peek() == '-' && peek(1) != ']' && is_one(first)) {
        ++at_;
        if (at_end()) fail_here("the character class has no closing ]");
        const CharacterRanges last = next();
        if (!is_one(last) || last[0].first < first[0].first) fail_here("a range of characters begins after its end");
        first[0].second = last[0].first;
      } else {
        by_kind |= !is_one(first);
      }
      all.insert(all.end(), first.begin(), first.end());
    }
    ++at_;
    if (!negated) return normalise(std::move(all));
    all = negate(std::move(all));
    return by_kind ? intersect(all, kAscii) : all;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

}  // namespace

std::string pattern_expression(std::string_view pattern) { return PatternTranslator(pattern).translate(); }

std::optional<std::string> format_expression(std::string_view format) {
  const std::string date =
      R"([12] [0-9]{3} "-" (("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) | )"
      R"(("0" [469] | "11") "-" ("0" [1-9] | [12] [0-9] | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8])))";
  const std::string clock = R"(([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])";
  const std::string time = clock + R"( ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | [+\x2D] )" + clock + ")";
  if (format == "date") return date;
  if (format == "time") return time;
  if (format == "date-time") return date + " \"T\" " + time;
  if (format == "uuid") return R"([0-9a-f]{8} ("-" [0-9a-f]{4}){3} "-" [0-9a-f]{12})";
  if (format == "ipv4") {
    const std::string byte = R"(("25" [0-5] | "2" [0-4] [0-9] | "1" [0-9]{2} | [1-9]? [0-9]))";
    return byte + " (\".\" " + byte + "){3}";
  }
  if (format == "email")
    return R"([A-Za-z0-9_+\x2D]{1,30} ("." [A-Za-z0-9_+\x2D]{1,30}){0,2} "@" )"
           R"(([a-z0-9] ([a-z0-9\x2D]{0,30} [a-z0-9])? "."){1,3} [a-z]{2,10})";
  return {};
}

}  // namespace attend
