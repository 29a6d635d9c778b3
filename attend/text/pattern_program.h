// The instructions that a regular expression is compiled to. PatternSearch executes them.
#pragma once
#include <bitset>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// A set of code points: ranges and classes, each possibly negated.
struct CharacterSet {
  struct Range {
    char32_t first, last;
    auto operator<=>(const Range&) const = default;  // NOLINT(modernize-use-nullptr): does not know <=>
  };
  struct Class {
    std::string name;  ///< a general category or its first letter, or "s", "d", "w"
    bool negated;
    auto operator<=>(const Class&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::vector<Range> ranges;
  std::vector<Class> classes;
  bool negated = false, ignore_case = false;

  /// Sorts the ranges and classes, and fills the table of ASCII. Call it before contains().
  void prepare();
  bool contains(char32_t c) const { return c < 128 ? ascii_[c] : contains_any(c); }

 private:
  bool contains_any(char32_t c) const;
  bool has(char32_t c) const;
  std::bitset<128> ascii_;
};

struct PatternInstruction {
  enum Op : std::uint8_t {
    one,             ///< a character of the set
    repeat,          ///< `least` to `most` characters of the set
    star,            ///< any number of characters of the set
    split,           ///< tries the next instruction, then `target`; lazy: the other way round
    jump,            ///< continues at `target`
    look_ahead,      ///< the body that follows must match here; then continues at `target`
    look_ahead_not,  ///< the body that follows must not match here; then continues at `target`
    atomic,          ///< takes the first match of the body that follows and continues at `target`; if there is none, or
                     ///< an empty one, continues at `otherwise`
    begin_round,     ///< stores the position in `number`
    end_round,       ///< fails if nothing was consumed since begin_round
    text_begin,
    text_end,
    accept,  ///< the end of the expression, or of a body
    fail,
  } op = fail;
  enum Mode : std::uint8_t { greedy, lazy, possessive } mode = greedy;
  std::uint32_t number = 0;  ///< star, split, atomic: the number of its remembered state; rounds: of the loop
  std::uint32_t set = 0;     ///< the index of the set
  std::uint32_t least = 1, most = 1;
  std::uint32_t target = 0, otherwise = 0;
};

struct PatternProgram {
  static constexpr std::uint32_t kStart = 1;  ///< the first instruction that is executed
  std::vector<PatternInstruction> code;
  std::vector<CharacterSet> sets;
  std::uint32_t states = 0;  ///< instructions whose outcome at a position is worth remembering
  std::uint32_t loops = 0;   ///< loops whose rounds could be empty

  /// Throws InputError if the expression uses a feature that is not supported, or is too large.
  static PatternProgram compile(std::string_view expression);
};

}  // namespace attend
