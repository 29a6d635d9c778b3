#include "attend/text/grammar/grammar.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "attend/core/error.h"
#include "attend/text/grammar/character_ranges.h"
#include "attend/text/grammar/grammar_matcher.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

using Kind = GrammarAutomaton::Kind;
constexpr std::uint32_t kNone = GrammarAutomaton::kNone;

[[noreturn]] void fail_at(std::pair<int, int> place, const auto&... what) {
  fail<InputError>("grammar", "line ", place.first, ", column ", place.second, ": ", what...);
}

/// A part of the automaton that is entered at `start` and left at `end`, which has no edges yet.
struct Fragment {
  std::uint32_t start, end;
  std::optional<std::uint32_t> rule = {};  // it is one call of this rule
};

/// Adds states and edges to an automaton.
class AutomatonBuilder {
 public:
  GrammarAutomaton automaton;

  std::uint32_t state() {
    if (automaton.edges_of.size() >= Grammar::kMostStates)
      fail<InputError>("grammar", "the grammar is too large: it has more than ", Grammar::kMostStates, " states");
    automaton.edges_of.push_back(kNone);
    return static_cast<std::uint32_t>(automaton.edges_of.size() - 1);
  }
  void empty(std::uint32_t from, std::uint32_t to) { add(from, {.kind = Kind::empty, .target = to}); }
  void bytes(std::uint32_t from, std::uint32_t to, int first, int last) {
    add(from, {.kind = Kind::bytes,
               .first = static_cast<std::uint8_t>(first),
               .last = static_cast<std::uint8_t>(last),
               .target = to});
  }
  void call(std::uint32_t from, std::uint32_t to, std::uint32_t rule) {
    add(from, {.kind = Kind::call, .target = to, .rule = rule});
  }

  Fragment nothing() {
    const Fragment made{state(), state()};
    empty(made.start, made.end);
    return made;
  }
  Fragment text(std::string_view utf8) {
    Fragment made{state(), 0};
    made.end = made.start;
    for (const char c : utf8) {
      const std::uint32_t next = state();
      bytes(made.end, next, static_cast<unsigned char>(c), static_cast<unsigned char>(c));
      made.end = next;
    }
    return utf8.empty() ? nothing() : made;
  }
  /// One character of the class, in UTF-8.
  Fragment characters(const CharacterRanges& ranges) {
    Utf8Class one{{state(), state()}, {}};
    for (const auto& [first, last] : ranges) {
      constexpr std::array<char32_t, 5> kFirst{0, 0x80, 0x800, 0x10000, 0x110000};  // of each length
      for (std::size_t n = 1; n < kFirst.size(); ++n) {
        const char32_t low = std::max(first, kFirst[n - 1]), high = std::min<char32_t>(last, kFirst[n] - 1);
        if (low > high) continue;
        std::string from, to;
        append_utf8(low, from), append_utf8(high, to);
        sequences(one, one.fragment.start, from, to);
      }
    }
    return one.fragment;
  }

  Fragment repeat(Fragment item, std::int64_t least, std::optional<std::int64_t> most) {
    if (least == 0 && !most) {
      const Fragment made{state(), state()};
      empty(made.start, item.start), empty(item.end, made.start), empty(made.start, made.end);
      return made;
    }
    if (least == 1 && !most) {
      const Fragment made{item.start, state()};
      empty(item.end, item.start), empty(item.end, made.end);
      return made;
    }
    if (least == 0 && most == 1) {
      const Fragment made{state(), state()};
      empty(made.start, item.start), empty(item.end, made.end), empty(made.start, made.end);
      return made;
    }
    // The item becomes a rule, so that each time is one state.
    const std::uint32_t rule = item.rule.value_or(static_cast<std::uint32_t>(automaton.rules.size()));
    if (!item.rule) automaton.rules.push_back({"", item.start, item.end});
    const Fragment made{state(), state()};
    std::uint32_t at = made.start;
    for (std::int64_t i = 0; i < most.value_or(least); ++i) {
      if (i >= least) empty(at, made.end);
      const std::uint32_t next = state();
      call(at, next, rule);
      at = next;
    }
    if (!most) call(at, at, rule);
    empty(at, made.end);
    return made;
  }

 private:
  /// A class, and its states that expect some more bytes from 0x80 to 0xBF.
  struct Utf8Class {
    Fragment fragment;
    std::array<std::optional<std::uint32_t>, 4> continued;
  };

  void add(std::uint32_t from, GrammarAutomaton::Edge edge) {
    edge.next = std::exchange(automaton.edges_of[from], static_cast<std::uint32_t>(automaton.edges.size()));
    automaton.edges.push_back(edge);
  }
  std::uint32_t continued(Utf8Class& one, std::size_t count) {
    if (count == 0) return one.fragment.end;
    if (!one.continued[count]) {
      const std::uint32_t made = state();
      one.continued[count] = made;
      bytes(made, continued(one, count - 1), 0x80, 0xBF);
    }
    return *one.continued[count];
  }
  /// The byte sequences from `from` to `to`, which have the same length.
  void sequences(Utf8Class& one, std::uint32_t at, std::string_view from, std::string_view to) {
    int first = static_cast<unsigned char>(from[0]), last = static_cast<unsigned char>(to[0]);
    const std::size_t rest = from.size() - 1;
    if (rest == 0) return bytes(at, one.fragment.end, first, last);
    const std::string least(rest, '\x80'), most(rest, '\xBF');
    const auto through = [&](int byte, std::string_view low, std::string_view high) {
      const std::uint32_t next = state();
      bytes(at, next, byte, byte);
      sequences(one, next, low, high);
    };
    if (first == last) return through(first, from.substr(1), to.substr(1));
    if (from.substr(1) != least) through(first++, from.substr(1), most);
    if (to.substr(1) != most) through(last--, least, to.substr(1));
    if (first <= last) bytes(at, continued(one, rest), first, last);
  }
};

class GbnfParser {
 public:
  explicit GbnfParser(std::string_view text) : text_(text) {}

  GrammarAutomaton parse() {
    if (count_invalid_utf8(text_) > 0) fail<InputError>("grammar", "it is not valid UTF-8");
    skip_space(true);
    while (!at_end()) rule();
    for (const auto& [name, id] : ids_)
      if (!defined(id)) fail_at(rules()[id].place, "the rule \"", name, "\" is not defined");
    const auto root = ids_.find("root");
    if (root == ids_.end()) fail<InputError>("grammar", "there is no rule \"root\"");
    builder_.automaton.root = root->second;
    return std::move(builder_.automaton);
  }

 private:
  std::vector<GrammarAutomaton::Rule>& rules() { return builder_.automaton.rules; }
  bool defined(std::uint32_t id) { return rules()[id].start != kNone; }
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  /// Line and column. It counts on from the last place, so that all places of a grammar take one pass over it.
  std::pair<int, int> place(std::size_t at) const {
    if (at < counted_.at) counted_ = {};
    const std::string_view more = text_.substr(counted_.at, at - counted_.at);
    counted_.line += static_cast<int>(std::ranges::count(more, '\n'));
    if (const std::size_t end = more.rfind('\n'); end != more.npos) counted_.begin = counted_.at + end + 1;
    counted_.at = at;
    return {counted_.line, 1 + static_cast<int>(count_code_points(text_.substr(counted_.begin, at - counted_.begin)))};
  }
  [[noreturn]] void fail_here(const auto&... what) const { fail_at(place(at_), what...); }
  /// The next character for messages.
  std::string next_shown() const {
    if (at_end()) return "the end";
    if (peek() == '\n' || peek() == '\r') return "the end of the line";
    return std::string(1, '\'').append(text_.substr(at_, static_cast<std::size_t>(decode_utf8(text_, at_).size))) +
           '\'';
  }

  void skip_space(bool newlines) {
    for (; !at_end(); ++at_) {
      if (peek() == '#') at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      const char c = peek();
      if (!(c == ' ' || c == '\t' || (newlines && (c == '\n' || c == '\r')))) return;
    }
  }

  std::string_view name() {
    const std::size_t begin = at_;
    while (is_name(peek())) ++at_;
    if (at_ == begin) fail_here("expected the name of a rule, got ", next_shown());
    return text_.substr(begin, at_ - begin);
  }
  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  }
  std::uint32_t rule_of(std::string_view name, std::pair<int, int> place) {
    const auto [found, is_new] = ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(rules().size()));
    if (is_new) rules().push_back({std::string(name), kNone, kNone, place});
    return found->second;
  }

  void rule() {
    const std::pair<int, int> begin = place(at_);
    const std::string_view own = name();
    const std::uint32_t id = rule_of(own, begin);
    if (defined(id)) fail_at(begin, "the rule \"", own, "\" is defined twice: first in line ", rules()[id].place.first);
    skip_space(false);
    if (!text_.substr(at_).starts_with("::=")) fail_here("expected ::= after \"", own, "\", got ", next_shown());
    at_ += 3;
    skip_space(true);
    const Fragment body = alternatives(0);
    rules()[id].start = body.start, rules()[id].end = body.end, rules()[id].place = begin;
    if (!at_end() && peek() != '\n' && peek() != '\r') fail_here("expected the end of the line, got ", next_shown());
    skip_space(true);
  }

  Fragment alternatives(int depth) {
    const Fragment made{builder_.state(), builder_.state()};
    for (;;) {
      const Fragment one = sequence(depth);
      builder_.empty(made.start, one.start), builder_.empty(one.end, made.end);
      if (peek() != '|') return made;
      ++at_;
      skip_space(true);
    }
  }

  Fragment sequence(int depth) {
    const std::uint32_t start = builder_.state();
    std::uint32_t at = start;
    std::optional<Fragment> last;
    const auto settle = [&] {
      if (!last) return;
      builder_.empty(at, last->start);
      at = last->end;
      last.reset();
    };
    for (;;) {
      const char c = peek();
      if (c == '*' || c == '+' || c == '?' || c == '{') {
        if (!last) fail_here("there is nothing before ", next_shown(), " to repeat");
        last = repetition(*last);
      } else if (c == '"' || c == '[' || c == '.' || c == '(' || is_name(c)) {
        settle();
        last = item(depth);
      } else {
        break;
      }
      skip_space(depth > 0);
    }
    settle();
    return {start, at};
  }

  Fragment item(int depth) {
    const std::size_t begin = at_;
    switch (peek()) {
      case '"':
        return builder_.text(literal());
      case '[':
        return builder_.characters(character_class());
      case '.':
        ++at_;
        return builder_.characters(all_characters());
      case '(': {
        if (depth >= Grammar::kDeepest) fail_here("groups are nested more than ", Grammar::kDeepest, " deep");
        ++at_;
        skip_space(true);
        const Fragment group = alternatives(depth + 1);
        if (peek() != ')') fail_here("expected ) of the group in line ", place(begin).first, ", got ", next_shown());
        ++at_;
        return group;
      }
      default: {
        const std::pair<int, int> used = place(begin);
        const std::uint32_t rule = rule_of(name(), used);
        const Fragment made{builder_.state(), builder_.state(), rule};
        builder_.call(made.start, made.end, rule);
        return made;
      }
    }
  }

  Fragment repetition(const Fragment& item) {
    const char c = text_[at_++];
    if (c == '*') return builder_.repeat(item, 0, {});
    if (c == '+') return builder_.repeat(item, 1, {});
    if (c == '?') return builder_.repeat(item, 0, 1);
    const std::size_t begin = at_ - 1;
    skip_space(false);
    const std::int64_t least = count();
    std::int64_t most = least;
    bool has_end = true;
    if (peek() == ',') {
      ++at_;
      skip_space(false);
      has_end = peek() != '}';
      if (has_end) most = count();
    }
    if (peek() != '}') fail_here("expected } of the repetition, got ", next_shown());
    ++at_;
    if (most < least) fail_at(place(begin), "a repetition has its least number first: got {", least, ",", most, "}");
    return builder_.repeat(item, least, has_end ? std::optional(most) : std::nullopt);
  }
  std::int64_t count() {
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_)
      value = std::min<std::int64_t>(value * 10 + (peek() - '0'), 2 * Grammar::kMostRepetitions);
    if (at_ == begin) fail_here("expected a number, got ", next_shown());
    if (value > Grammar::kMostRepetitions)
      fail_at(place(begin), "a repetition is limited to ", Grammar::kMostRepetitions, " times");
    skip_space(false);
    return value;
  }

  std::string literal() {
    const std::size_t begin = at_++;
    std::string text;
    while (peek() != '"') {
      if (at_end() || peek() == '\n') fail_at(place(begin), "the literal has no closing \"");
      append_utf8(character(), text);
    }
    ++at_;
    return text;
  }
  CharacterRanges character_class() {
    const std::size_t begin = at_++;
    const bool negated = peek() == '^';
    if (negated) ++at_;
    CharacterRanges ranges;
    while (peek() != ']') {
      if (at_end() || peek() == '\n') fail_at(place(begin), "the character class has no closing ]");
      const std::size_t from = at_;
      const char32_t first = character();
      char32_t last = first;
      if (peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        if (peek() == '\n') fail_at(place(begin), "the character class has no closing ]");
        last = character();
      }
      if (last < first) fail_at(place(from), "a range of characters begins after its end");
      ranges.emplace_back(first, last);
    }
    ++at_;
    return negated ? negate(std::move(ranges)) : normalise(std::move(ranges));
  }

  /// One character of a literal or class, which may be an escape.
  char32_t character() {
    const CodePoint c = decode_utf8(text_, at_);
    if (c.value != U'\\') {
      at_ += static_cast<std::size_t>(c.size);
      return c.value;
    }
    const std::size_t begin = at_++;
    if (at_end()) fail_at(place(begin), "there is nothing after the backslash");
    const char escape = text_[at_++];
    switch (escape) {
      case 'n':
        return U'\n';
      case 'r':
        return U'\r';
      case 't':
        return U'\t';
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^':
        return static_cast<char32_t>(escape);
      case 'x':
        return hexadecimal(begin, 2);
      case 'u':
        return hexadecimal(begin, 4);
      case 'U':
        return hexadecimal(begin, 8);
      default:
        fail_at(place(begin), "unknown escape: expected \\n \\r \\t \\\\ \\\" \\[ \\] \\xHH \\uHHHH or \\UHHHHHHHH");
    }
  }
  char32_t hexadecimal(std::size_t begin, int digits) {
    std::uint64_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) fail_at(place(begin), "an escape needs ", digits, " hexadecimal digits");
      value = value * 16 + static_cast<std::uint64_t>(digit);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) fail_at(place(begin), "there is no such character");
    return static_cast<char32_t>(value);
  }

  struct Counted {
    std::size_t at = 0, begin = 0;  // of the line
    int line = 1;
  };
  std::string_view text_;
  std::size_t at_ = 0;
  mutable Counted counted_;
  AutomatonBuilder builder_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
};

/// Throws when a rule can begin with itself, which no matcher could follow. `empty[s]`: the end of its rule can be
/// reached from s without a byte.
void check_left_recursion(const GrammarAutomaton& a, const std::vector<bool>& empty) {
  std::vector<std::vector<std::uint32_t>> begins(a.rules.size());  // the rules that a rule can begin with
  std::vector<std::uint32_t> seen(a.edges_of.size(), kNone);
  for (std::uint32_t r = 0; r < a.rules.size(); ++r) {
    std::vector<std::uint32_t> open{a.rules[r].start};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if (std::exchange(seen[at], r) == r) continue;
      for (std::uint32_t e = a.edges_of[at]; e != kNone; e = a.edges[e].next) {
        const GrammarAutomaton::Edge& edge = a.edges[e];
        if (edge.kind == Kind::call) begins[r].push_back(edge.rule);
        if (edge.kind == Kind::empty || (edge.kind == Kind::call && empty[a.rules[edge.rule].start]))
          open.push_back(edge.target);
      }
    }
  }
  enum class Mark : std::uint8_t { unseen, open, done };
  std::vector<Mark> marks(a.rules.size());
  for (std::uint32_t r = 0; r < a.rules.size(); ++r) {
    std::vector<std::pair<std::uint32_t, std::size_t>> path;
    if (marks[r] == Mark::unseen) path.emplace_back(r, 0), marks[r] = Mark::open;
    while (!path.empty()) {
      auto& [rule, next] = path.back();
      if (next == begins[rule].size()) {
        marks[rule] = Mark::done;
        path.pop_back();
        continue;
      }
      const std::uint32_t other = begins[rule][next++];
      if (marks[other] == Mark::unseen) {
        marks[other] = Mark::open;
        path.emplace_back(other, 0);
      } else if (marks[other] == Mark::open) {
        // Some rule of the circle has a name: groups alone cannot call themselves.
        std::uint32_t named = other;
        for (auto one = path.rbegin(); a.rules[named].name.empty(); ++one) named = one->first;
        fail_at(a.rules[named].place, "the rule \"", a.rules[named].name,
                "\" is left-recursive: it can begin with itself");
      }
    }
  }
}

}  // namespace

Grammar::Grammar(std::string_view gbnf)
    : automaton_(std::make_shared<const GrammarAutomaton>(GbnfParser(gbnf).parse())) {
  const GrammarAutomaton& a = *automaton_;
  const std::vector<std::uint32_t> lengths = shortest_lengths(a);
  std::vector<bool> empty;
  for (const std::uint32_t length : lengths) empty.push_back(length == 0);
  check_left_recursion(a, empty);
  const GrammarAutomaton::Rule& root = a.rules[a.root];
  const std::uint32_t shortest = lengths[root.start];
  if (shortest == kNone) fail_at(root.place, "no text conforms to the grammar: the rule \"root\" never ends");
  if (shortest > kLongestShortest)
    fail_at(root.place, "the shortest text that conforms is too long: it has more than ", kLongestShortest, " bytes");
}

bool Grammar::accepts(std::string_view text) const {
  GrammarMatcher matcher(*this);
  std::uint32_t set = matcher.start();
  for (const char c : text) {
    matcher.renew_budget();
    set = matcher.step(set, static_cast<unsigned char>(c));
    if (set == GrammarMatcher::kDead) return false;
  }
  return matcher.accepts(set);
}

std::string gbnf_literal(std::string_view text) {
  std::string literal = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    append_gbnf(c.value, literal);
    at += static_cast<std::size_t>(c.size);
  }
  return literal + "\"";
}

}  // namespace attend
