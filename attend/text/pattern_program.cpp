#include "attend/text/pattern_program.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMostInstructions = 500'000;

/// Without case, ſ (long s) equals s. (The Kelvin sign equals k by Unicode's lower case.)
char32_t fold(char32_t c) { return c == 0x17F ? U's' : lower_case(c).first; }
char32_t upper(char32_t c) { return fold(c) >= U'a' && fold(c) <= U'z' ? fold(c) - 32 : c; }

bool in_class(std::string_view name, char32_t c) {
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

struct Item;
using Sequence = std::vector<Item>;

/// An item of the expression, with its repetition.
struct Item {
  enum Kind { set, group, look_ahead, look_ahead_not, text_begin, text_end } kind = set;
  CharacterSet characters;
  std::size_t set_index = kMany;  ///< of the characters, once they belong to the program
  std::vector<Sequence> alternatives;
  std::size_t least = 1, most = 1;
  PatternInstruction::Mode mode = PatternInstruction::greedy;
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

  CharacterSet parse_set() {
    CharacterSet set;
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
    set.prepare();
    return set;
  }

  /// Parses a character, an escape, a range or a class.
  void parse_member(CharacterSet& set, bool may_be_range) {
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
  bool parse_escape(CharacterSet& set, char32_t& character) {
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
      if (item.most < item.least) unsupported("a repetition from high to low");
    } else {
      return;
    }
    if (item.kind > Item::group) unsupported("a repetition of no characters");
    if (skip("?"))
      item.mode = PatternInstruction::lazy;
    else if (skip("+"))
      item.mode = PatternInstruction::possessive;
    if (next_is("*") || next_is("+") || next_is("?") || next_is("{")) unsupported("a repetition of a repetition");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool ignore_case_ = false;
};

/// Whether a match can be empty.
bool may_be_empty(const std::vector<Sequence>& alternatives) {
  return std::ranges::any_of(alternatives, [](const Sequence& sequence) {
    return std::ranges::all_of(sequence, [](const Item& item) {
      if (item.kind == Item::set) return item.least == 0;
      return item.kind != Item::group || item.least == 0 || may_be_empty(item.alternatives);
    });
  });
}

/// Turns the items of an expression into instructions.
class Compiler {
 public:
  explicit Compiler(std::string_view expression) : expression_(expression) {}

  PatternProgram compile(std::vector<Sequence> alternatives) {
    emit(Instruction::fail);  // at kFail
    emit_body(alternatives);
    return std::move(program_);
  }

 private:
  using Instruction = PatternInstruction;
  static constexpr std::uint32_t kFail = 0;

  std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }
  /// Appends an instruction and returns its index.
  std::uint32_t emit(Instruction::Op op, Instruction::Mode mode = Instruction::greedy) {
    if (program_.code.size() >= kMostInstructions)
      fail<InputError>("tokenizer", "the regular expression \"", expression_.substr(0, 200),
                       "\" is too large: more than ", kMostInstructions,
                       " instructions with its repeated groups written out");
    Instruction instruction;
    instruction.op = op, instruction.mode = mode;
    if (op == Instruction::star || op == Instruction::split || op == Instruction::atomic)
      instruction.number = program_.states++;
    program_.code.push_back(instruction);
    return here() - 1;
  }
  void emit_jump(std::uint32_t target) { program_.code[emit(Instruction::jump)].target = target; }
  /// Lets instructions continue here.
  void land(const std::vector<std::uint32_t>& instructions, std::uint32_t Instruction::*place = &Instruction::target) {
    for (const std::uint32_t index : instructions) program_.code[index].*place = here();
  }

  /// The alternatives, as the body of a lookahead or an atomic group.
  void emit_body(std::vector<Sequence>& alternatives) {
    emit_alternatives(alternatives);
    emit(Instruction::accept);
  }

  void emit_alternatives(std::vector<Sequence>& alternatives) {
    std::vector<std::uint32_t> ends;
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
      const bool last = i + 1 == alternatives.size();
      const std::uint32_t choice = last ? 0 : emit(Instruction::split);
      for (Item& item : alternatives[i]) emit_item(item);
      if (last) break;
      ends.push_back(emit(Instruction::jump));
      land({choice});
    }
    land(ends);
  }

  void emit_item(Item& item) {
    switch (item.kind) {
      case Item::set:
        emit_run(item);
        break;
      case Item::group:
        item.mode == Instruction::possessive ? emit_atomic(item) : emit_group(item);
        break;
      case Item::look_ahead:
      case Item::look_ahead_not: {
        const std::uint32_t look =
            emit(item.kind == Item::look_ahead ? Instruction::look_ahead : Instruction::look_ahead_not);
        emit_body(item.alternatives);
        land({look});
        break;
      }
      case Item::text_begin:
        emit(Instruction::text_begin);
        break;
      case Item::text_end:
        emit(Instruction::text_end);
        break;
    }
  }

  void emit_run(Item& item) {
    // A group that is repeated emits its items several times, with the same sets.
    if (item.set_index == kMany) {
      item.set_index = program_.sets.size();
      program_.sets.push_back(std::move(item.characters));
    }
    const auto add = [&](Instruction::Op op, std::size_t least, std::size_t most) {
      Instruction& instruction = program_.code[emit(op, item.mode)];
      instruction.set = static_cast<std::uint32_t>(item.set_index);
      instruction.least = static_cast<std::uint32_t>(least), instruction.most = static_cast<std::uint32_t>(most);
    };
    if (item.most == 1 && item.least == 1) {
      add(Instruction::one, 1, 1);
    } else if (item.most < kMany) {
      add(Instruction::repeat, item.least, item.most);
    } else {
      if (item.least == 1) add(Instruction::one, 1, 1);
      if (item.least > 1) add(Instruction::repeat, item.least, item.least);
      add(Instruction::star, 0, 0);
    }
  }

  /// The first rounds have no choice, the others are optional. An optional round must not be empty.
  void emit_group(Item& item) {
    for (std::size_t i = 0; i < item.least; ++i) emit_alternatives(item.alternatives);
    const bool may_stall = may_be_empty(item.alternatives);
    const auto emit_round = [&] {
      const std::uint32_t loop = may_stall ? program_.loops++ : 0;
      if (may_stall) program_.code[emit(Instruction::begin_round)].number = loop;
      emit_alternatives(item.alternatives);
      if (may_stall) program_.code[emit(Instruction::end_round)].number = loop;
    };
    std::vector<std::uint32_t> exits;
    if (item.most == kMany) {
      exits.push_back(emit(Instruction::split, item.mode));
      emit_round();
      emit_jump(exits.back());
    } else {
      for (std::size_t i = item.least; i < item.most; ++i) {
        exits.push_back(emit(Instruction::split, item.mode));
        emit_round();
      }
    }
    land(exits);
  }

  /// A possessive group: each round takes its first match, and keeps it.
  void emit_atomic(Item& item) {
    std::vector<std::uint32_t> exits;
    const auto emit_round = [&] {
      const std::uint32_t round = emit(Instruction::atomic);
      emit_body(item.alternatives);
      land({round});
      return round;
    };
    for (std::size_t i = 0; i < item.least; ++i) program_.code[emit_round()].otherwise = kFail;
    if (item.most == kMany) {
      exits.push_back(emit_round());
      emit_jump(exits.back());
    } else {
      for (std::size_t i = item.least; i < item.most; ++i) exits.push_back(emit_round());
    }
    land(exits, &Instruction::otherwise);
  }

  std::string_view expression_;
  PatternProgram program_;
};

}  // namespace

void CharacterSet::prepare() {
  std::ranges::sort(ranges);
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().last)
      merged.back().last = std::max(merged.back().last, range.last);
    else
      merged.push_back(range);
  }
  ranges = std::move(merged);
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  for (char32_t c = 0; c < 128; ++c) ascii_[c] = contains_any(c);
}

bool CharacterSet::contains_any(char32_t c) const {
  const bool inside = has(c) || (ignore_case && (has(fold(c)) || has(upper(c))));
  return inside != negated;
}

bool CharacterSet::has(char32_t c) const {
  const auto after = std::ranges::upper_bound(ranges, c, {}, &Range::first);
  if (after != ranges.begin() && c <= std::prev(after)->last) return true;
  return std::ranges::any_of(classes, [c](const Class& k) { return in_class(k.name, c) != k.negated; });
}

PatternProgram PatternProgram::compile(std::string_view expression) {
  return Compiler(expression).compile(Parser(expression).parse());
}

}  // namespace attend
