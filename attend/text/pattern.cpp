#include "attend/text/pattern.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();

/// A set of code points: ranges and classes, each possibly negated.
struct Set {
  struct Range {
    char32_t first, last;
  };
  struct Class {
    std::string name;  ///< a general category or its first letter, or "s", "d", "w"
    bool negated;
  };
  std::vector<Range> ranges;
  std::vector<Class> classes;
  bool negated = false, ignore_case = false;

  bool contains(char32_t c) const {
    const bool inside = has(c) || (ignore_case && (has(fold(c)) || has(upper(c))));
    return inside != negated;
  }

 private:
  /// Without case, ſ (long s) equals s. (The Kelvin sign equals k by Unicode's lower case.)
  static char32_t fold(char32_t c) { return c == 0x17F ? U's' : lower_case(c).first; }
  static char32_t upper(char32_t c) { return fold(c) >= U'a' && fold(c) <= U'z' ? fold(c) - 32 : c; }
  bool has(char32_t c) const {
    return std::ranges::any_of(ranges, [c](const Range& r) { return c >= r.first && c <= r.last; }) ||
           std::ranges::any_of(classes, [c](const Class& k) { return in_class(k.name, c) != k.negated; });
  }
  static bool in_class(std::string_view name, char32_t c) {
    const std::uint16_t bits = properties(c);
    if (name == "L") return bits & property::kLetter;
    if (name == "N") return bits & property::kNumber;
    if (name == "s") return bits & property::kWhiteSpace;
    // As in Oniguruma: without joiners, but with the fractions and superscripts of Latin 1.
    if (name == "w")
      return (bits & property::kWord && c != 0x200C && c != 0x200D) || (c < 0x100 && bits & property::kNumber);
    if (name == "d") name = "Nd";
    const std::string_view own = category(c);
    return own.starts_with(name);
  }
};

struct Item;
using Sequence = std::vector<Item>;

/// An item of the expression, with its repetition.
struct Item {
  enum Kind { set, group, look_ahead, look_ahead_not, text_begin, text_end } kind = set;
  Set characters;
  std::vector<Sequence> alternatives;
  std::size_t least = 1, most = 1;
  enum Mode { greedy, lazy, possessive } mode = greedy;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Sequence> parse() {
    std::vector<Sequence> alternatives = parse_alternatives();
    if (at_ < text_.size()) unsupported("a closing parenthesis too many");
    return alternatives;
  }

 private:
  [[noreturn]] void unsupported(std::string_view what) const {
    fail<InputError>("tokenizer", "the regular expression \"", text_, "\" has ", what, " at byte ", at_,
                     ", which is not supported");
  }
  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool skip(std::string_view what) {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }
  char32_t take() {
    if (at_ >= text_.size()) unsupported("an early end");
    const CodePoint c = decode_utf8(text_, at_);
    at_ += static_cast<std::size_t>(c.size);
    return c.value;
  }

  std::vector<Sequence> parse_alternatives() {
    if (++depth_ > 50) unsupported("parentheses nested too deeply");
    std::vector<Sequence> alternatives(1);
    while (at_ < text_.size() && !next_is(")")) {
      if (skip("|"))
        alternatives.emplace_back();
      else
        alternatives.back().push_back(parse_item());
    }
    --depth_;
    return alternatives;
  }

  Item parse_item() {
    Item item;
    if (skip("(")) {
      item.kind = Item::group;
      const bool outer_case = ignore_case_;
      if (skip("?=")) {
        item.kind = Item::look_ahead;
      } else if (skip("?!")) {
        item.kind = Item::look_ahead_not;
      } else if (skip("?i:")) {
        ignore_case_ = true;
      } else if (next_is("?") && !skip("?:")) {
        unsupported("a group of that kind");
      }
      item.alternatives = parse_alternatives();
      ignore_case_ = outer_case;
      if (!skip(")")) unsupported("an open parenthesis");
    } else if (skip("^")) {
      item.kind = Item::text_begin;
    } else if (skip("$")) {
      item.kind = Item::text_end;
    } else {
      item.characters = parse_set();
    }
    parse_repetition(item);
    return item;
  }

  Set parse_set() {
    Set set;
    set.ignore_case = ignore_case_;
    if (skip(".")) {
      set.ranges = {{U'\n', U'\n'}};
      set.negated = true;
    } else if (skip("[")) {
      set.negated = skip("^");
      for (bool first = true; first || !next_is("]"); first = false) {
        if (next_is("[:") || next_is("&&") || next_is("[")) unsupported("a set of sets");
        parse_member(set, true);
      }
      skip("]");
    } else {
      if (next_is("*") || next_is("+") || next_is("?")) unsupported("nothing to repeat");
      parse_member(set, false);
    }
    return set;
  }

  /// Parses a character, an escape, a range or a class.
  void parse_member(Set& set, bool may_be_range) {
    char32_t first = take();
    if (first == U'\\' && !parse_escape(set, first)) return;
    char32_t last = first;
    // A dash at the end of a set is a literal dash.
    if (may_be_range && next_is("-") && !next_is("-]")) {
      skip("-");
      last = take();
      if (last == U'\\' && !parse_escape(set, last)) unsupported("a range that ends in a class");
    }
    if (last < first) unsupported("a range from high to low");
    set.ranges.push_back({first, last});
  }

  /// Parses an escape after the backslash. True: a character, false: a class.
  bool parse_escape(Set& set, char32_t& character) {
    const char32_t c = take();
    switch (c) {
      case U'n':
        character = U'\n';
        return true;
      case U'r':
        character = U'\r';
        return true;
      case U't':
        character = U'\t';
        return true;
      case U'f':
        character = U'\f';
        return true;
      case U'v':
        character = U'\v';
        return true;
      case U's':
      case U'd':
      case U'w':
        set.classes.push_back({std::string(1, static_cast<char>(c)), false});
        return false;
      case U'S':
      case U'D':
      case U'W':
        set.classes.push_back({std::string(1, static_cast<char>(c + 32)), true});
        return false;
      case U'p':
      case U'P': {
        if (!skip("{")) unsupported("a property without braces");
        const bool negated = (c == U'P') != skip("^");
        const std::size_t end = text_.find('}', at_);
        const std::string name(text_.substr(at_, end - at_));
        static constexpr std::string_view kMajor = "LMNPSZC";
        const bool known = end != std::string_view::npos && (name.size() == 1 || name.size() == 2) &&
                           kMajor.find(name[0]) != std::string_view::npos;
        if (!known) unsupported("a property");
        set.classes.push_back({name, negated});
        at_ = end + 1;
        return false;
      }
      default:
        if ((c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9'))
          unsupported("an escape of that kind");
        character = c;
        return true;
    }
  }

  std::size_t parse_number() {
    std::size_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      value = std::min<std::size_t>(10 * value + static_cast<std::size_t>(text_[at_] - '0'), 100000);
    if (at_ == begin) unsupported("a repetition without a number");
    return value;
  }

  void parse_repetition(Item& item) {
    if (skip("*")) {
      item.least = 0, item.most = kMany;
    } else if (skip("+")) {
      item.least = 1, item.most = kMany;
    } else if (skip("?")) {
      item.least = 0, item.most = 1;
    } else if (skip("{")) {
      item.least = next_is(",") ? 0 : parse_number();
      item.most = skip(",") ? (next_is("}") ? kMany : parse_number()) : item.least;
      if (!skip("}")) unsupported("an open brace");
    } else {
      return;
    }
    if (item.kind > Item::group) unsupported("a repetition of no characters");
    if (skip("?"))
      item.mode = Item::lazy;
    else if (skip("+"))
      item.mode = Item::possessive;
    if (next_is("*") || next_is("+") || next_is("?") || next_is("{")) unsupported("a repetition of a repetition");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool ignore_case_ = false;
};

/// A backtracking matcher: each item calls the rest of the expression with the position where it ended. The repetition
/// of a set is a loop, so long texts do not need a deep stack.
class Matcher {
 public:
  explicit Matcher(std::string_view text) : text_(text) {}
  using Rest = FunctionRef<bool(std::size_t)>;

  bool match(const std::vector<Sequence>& alternatives, std::size_t at, Rest rest) {
    return std::ranges::any_of(alternatives, [&](const Sequence& s) { return match(s, 0, at, rest); });
  }

 private:
  bool match(const Sequence& sequence, std::size_t index, std::size_t at, Rest rest) {
    if (++steps_ > kMostSteps)
      fail<InputError>("tokenizer", "a regular expression takes more than ", kMostSteps, " steps at one place");
    if (index == sequence.size()) return rest(at);
    const Item& item = sequence[index];
    const auto next = [&](std::size_t end) { return match(sequence, index + 1, end, rest); };
    switch (item.kind) {
      case Item::set:
        return match_run(item, at, next);
      case Item::group:
        return match_group(item, 0, at, next);
      case Item::look_ahead:
        return match(item.alternatives, at, [](std::size_t) { return true; }) && next(at);
      case Item::look_ahead_not:
        return !match(item.alternatives, at, [](std::size_t) { return true; }) && next(at);
      case Item::text_begin:
        return (at == 0 || text_[at - 1] == '\n') && next(at);
      case Item::text_end:
        return (at == text_.size() || text_[at] == '\n') && next(at);
    }
    return false;
  }

  /// Matches one code point of the set.
  bool advance(const Set& set, std::size_t& at) const {
    if (at >= text_.size()) return false;
    const CodePoint c = decode_utf8(text_, at);
    if (!set.contains(c.value)) return false;
    at += static_cast<std::size_t>(c.size);
    return true;
  }

  bool match_run(const Item& item, std::size_t at, Rest next) {
    std::size_t count = 0;
    while (count < item.least && advance(item.characters, at)) ++count;
    if (count < item.least) return false;
    if (item.mode == Item::lazy) {
      while (!next(at))
        if (count++ == item.most || !advance(item.characters, at)) return false;
      return true;
    }
    while (count < item.most && advance(item.characters, at)) ++count;
    if (item.mode == Item::possessive) return next(at);
    for (; !next(at); --count) {
      if (count == item.least) return false;
      do --at;
      while ((text_[at] & 0xC0) == 0x80);
    }
    return true;
  }

  bool match_group(const Item& item, std::size_t count, std::size_t at, Rest next) {
    const auto again = [&] {
      return count < item.most && match(item.alternatives, at, [&](std::size_t end) {
               return (end > at || count < item.least) && match_group(item, count + 1, end, next);
             });
    };
    if (item.mode == Item::possessive) {
      for (std::size_t end = at; count < item.most; ++count, at = end) {
        const bool more = match(item.alternatives, at, [&](std::size_t e) { return end = e, true; });
        if (!more || end == at) break;
      }
      return count >= item.least && next(at);
    }
    if (item.mode == Item::lazy) return (count >= item.least && next(at)) || again();
    return again() || (count >= item.least && next(at));
  }

  static constexpr int kMostSteps = 1'000'000;
  std::string_view text_;
  int steps_ = 0;
};

}  // namespace

struct Pattern::Program {
  std::vector<Sequence> alternatives;
};

Pattern Pattern::string(std::string text) {
  Pattern pattern;
  pattern.text_ = std::move(text);
  return pattern;
}

Pattern Pattern::regex(std::string text) {
  Pattern pattern;
  pattern.text_ = std::move(text);
  pattern.is_regex_ = true;
  pattern.program_ = std::make_shared<const Program>(Program{Parser(pattern.text_).parse()});
  return pattern;
}

std::optional<Pattern::Match> Pattern::find(std::string_view in, std::size_t from) const {
  if (!is_regex_) {
    const std::size_t begin = text_.empty() ? std::string_view::npos : in.find(text_, from);
    return begin == std::string_view::npos ? std::nullopt : std::optional<Match>({begin, begin + text_.size()});
  }
  for (std::size_t at = from; at < in.size(); at += static_cast<std::size_t>(decode_utf8(in, at).size)) {
    std::size_t end = at;
    // An empty match does not count.
    if (Matcher(in).match(program_->alternatives, at, [&](std::size_t e) { return end = e, true; }) && end > at)
      return Match{at, end};
  }
  return std::nullopt;
}

}  // namespace attend
