#include "attend/text/pattern.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "attend/core/error.h"
#include "attend/text/pattern_program.h"
#include "attend/text/unicode.h"

namespace attend {

Pattern Pattern::string(std::string text) {
  Pattern pattern;
  pattern.text_ = std::move(text);
  return pattern;
}

Pattern Pattern::regex(std::string text) {
  Pattern pattern;
  pattern.text_ = std::move(text);
  pattern.is_regex_ = true;
  pattern.program_ = std::make_shared<const PatternProgram>(PatternProgram::compile(pattern.text_));
  return pattern;
}

/// A backtracking matcher. What is left to try lies on a stack of its own, so the length of the text costs no call
/// stack; only lookahead and possessive groups are calls, and their nesting is bounded by the parser.
///
/// A search that takes many steps begins to remember states: an instruction that has failed at a position will fail
/// there again, whatever came before it, since expressions have no captures. So each pair of instruction and position
/// is tried once, and the search is linear in the text. Loops with empty rounds are the exception: their outcome
/// depends on where the round began. They are not remembered, and only the limit of steps stops them.
class PatternSearch::Matcher {
 public:
  void start(const PatternProgram& program, std::string_view text) {
    program_ = &program, text_ = text;
    if (text.size() >= kRestore)
      fail<InputError>("tokenizer", "a text has ", text.size(), " bytes, expected under 4 GB");
    steps_ = 0;
    limit_ = kStepsBeforeMemory + kStepsPerByteBeforeMemory * static_cast<std::int64_t>(text.size());
    remembers_ = false;
    stack_.clear(), trail_.clear();
    rounds_.assign(program.loops, 0);
  }

  /// The end of the match that begins at `at`, if there is one.
  std::optional<std::size_t> match(std::size_t at) {
    auto end = static_cast<Position>(at);
    return run(PatternProgram::kStart, end, /*any=*/false) ? std::optional<std::size_t>(end) : std::nullopt;
  }

  std::int64_t steps() const { return steps_; }
  /// Whether it is worth keeping for another text.
  bool is_small() const { return stack_.capacity() + trail_.capacity() + memory_.capacity() < 10'000; }

  /// The matcher of the last search of this thread. Words are short and many, and its memory can be used again.
  static std::unique_ptr<Matcher>& spare() {
    thread_local std::unique_ptr<Matcher> matcher;
    return matcher;
  }

 private:
  using Position = std::uint32_t;
  using Instruction = PatternInstruction;

  /// What to do when the current attempt fails: continue at an instruction, give back a character of a run, take one
  /// more (lazy), or restore the begin of a round.
  struct Choice {
    std::uint32_t code;
    Position at;
    std::uint32_t low;    ///< kPlain, kRestore, the least end of a run, or how often a lazy one was repeated
    std::uint32_t trail;  ///< the length of the trail
  };
  static constexpr std::uint32_t kPlain = std::numeric_limits<std::uint32_t>::max(), kRestore = kPlain - 1;

  /// The state of an instruction at a position. While it is being tried, it counts as failed.
  struct State {
    std::uint32_t number;
    Position at;
  };
  enum Outcome : unsigned { unknown = 0, failed = 1, matched = 2 };

  static constexpr std::int64_t kStepsBeforeMemory = 1'000, kStepsPerByteBeforeMemory = 32;
  static constexpr std::int64_t kSteps = 10'000, kStepsPerByte = 500;
  static constexpr std::size_t kMostChoices = 1 << 23;              // 128 MB
  static constexpr std::size_t kMostStates = std::size_t{1} << 28;  // 64 MB

  /// Tries the instructions from `code` until one accepts. `at` becomes the end of the match. With `any`, only whether
  /// there is a match counts.
  bool run(std::uint32_t code, Position& at, bool any) {
    const std::size_t bottom = stack_.size(), trail = trail_.size();
    for (;;) {
      if (++steps_ > limit_) reach_limit();
      bool good = true;
      const Instruction& step = program_->code[code];
      switch (step.op) {
        case Instruction::one:
          good = advance(program_->sets[step.set], at);
          ++code;
          break;
        case Instruction::repeat:
          good = begin_repeat(code, at);
          ++code;
          break;
        case Instruction::star:
        case Instruction::split:
        case Instruction::atomic:
          if (remembers_) {
            const Outcome before = outcome({step.number, at});
            if (before == matched) return finish(bottom, trail, any);
            good = before == unknown;
            if (good) visit({step.number, at});
          }
          if (!good) break;
          if (step.op == Instruction::split) {
            const bool lazy = step.mode == Instruction::lazy;
            push({lazy ? code + 1 : step.target, at, kPlain, trail_size()});
            code = lazy ? step.target : code + 1;
          } else if (step.op == Instruction::star) {
            const Outcome begun = begin_star(code, at);
            if (begun == matched) return finish(bottom, trail, any);
            good = begun == unknown;
            ++code;
          } else {
            Position end = at;
            const bool more = run(code + 1, end, /*any=*/false) && end > at;
            code = more ? step.target : step.otherwise;
            if (more) at = end;
          }
          break;
        case Instruction::jump:
          code = step.target;
          break;
        case Instruction::look_ahead:
        case Instruction::look_ahead_not: {
          Position end = at;
          good = run(code + 1, end, /*any=*/true) == (step.op == Instruction::look_ahead);
          code = step.target;
          break;
        }
        case Instruction::begin_round:
          push({step.number, rounds_[step.number], kRestore, trail_size()});
          rounds_[step.number] = at;
          ++code;
          break;
        case Instruction::end_round:
          good = at > rounds_[step.number];
          ++code;
          break;
        case Instruction::text_begin:
          good = at == 0 || text_[at - 1] == '\n';
          ++code;
          break;
        case Instruction::text_end:
          good = at == text_.size() || text_[at] == '\n';
          ++code;
          break;
        case Instruction::accept:
          return finish(bottom, trail, any);
        case Instruction::fail:
          good = false;
          break;
      }
      if (good) continue;
      const Resumed resumed = resume(bottom, code, at);
      if (resumed == Resumed::match) return finish(bottom, trail, any);
      if (resumed == Resumed::nothing_left) {
        trail_.resize(trail);
        return false;
      }
    }
  }

  enum class Resumed { choice, match, nothing_left };
  /// Takes the latest choice that is left.
  Resumed resume(std::size_t bottom, std::uint32_t& code, Position& at) {
    while (stack_.size() > bottom) {
      const Choice choice = stack_.back();
      stack_.pop_back();
      trail_.resize(choice.trail);
      if (choice.low == kRestore) {
        rounds_[choice.code] = choice.at;
        continue;
      }
      code = choice.code, at = choice.at;
      if (choice.low == kPlain) return Resumed::choice;
      const Instruction& run = program_->code[code];
      ++code;
      if (run.mode == Instruction::greedy) {
        if (remembers_ && run.op == Instruction::star) remember({run.number, at}, failed);
        at = previous(at);
        if (at > choice.low) push({choice.code, at, choice.low, choice.trail});
        return Resumed::choice;
      }
      if (run.mode == Instruction::possessive) {  // nothing to give back, but its states have failed
        for (Position p = choice.low; p <= at; ++p) remember({run.number, p}, failed);
        continue;
      }
      std::uint32_t times = choice.low;
      if (run.op == Instruction::repeat && times++ == run.most) continue;
      if (!advance(program_->sets[run.set], at)) continue;
      if (run.op == Instruction::star && remembers_) {
        const Outcome before = outcome({run.number, at});
        if (before == matched) return Resumed::match;
        if (before == failed) continue;
        visit({run.number, at});
      }
      push({choice.code, at, times, trail_size()});
      return Resumed::choice;
    }
    return Resumed::nothing_left;
  }

  /// Leaves run() with a match: the states that led to it have not failed.
  bool finish(std::size_t bottom, std::size_t trail, bool any) {
    if (remembers_) {
      for (std::size_t i = trail; i < trail_.size(); ++i) remember(trail_[i], any ? matched : unknown);
      for (std::size_t i = bottom; any && i < stack_.size(); ++i) {
        const Choice& choice = stack_[i];
        if (choice.low >= kRestore) continue;
        const Instruction& run = program_->code[choice.code];
        if (run.op != Instruction::star || run.mode == Instruction::lazy) continue;
        for (Position p = choice.low; p <= choice.at; ++p) remember({run.number, p}, matched);
      }
    }
    stack_.resize(bottom), trail_.resize(trail);
    return true;
  }

  /// Takes one character of the set.
  bool advance(const CharacterSet& set, Position& at) const {
    if (at >= text_.size()) return false;
    const auto first = static_cast<unsigned char>(text_[at]);
    if (first < 0x80) return set.contains(first) && (++at, true);
    const CodePoint c = decode_utf8(text_, at);
    if (!set.contains(c.value)) return false;
    at += static_cast<Position>(c.size);
    return true;
  }
  /// Where the code point before `at` begins.
  Position previous(Position at) const {
    if (static_cast<unsigned char>(text_[at - 1]) < 0x80) return at - 1;
    for (Position size = std::min<Position>(4, at); size > 1; --size)
      if ((text_[at - size] & 0xC0) == 0xC0 && decode_utf8(text_, at - size).size == static_cast<int>(size))
        return at - size;
    return at - 1;
  }

  bool begin_repeat(std::uint32_t code, Position& at) {
    const Instruction& run = program_->code[code];
    const CharacterSet& set = program_->sets[run.set];
    std::uint32_t times = 0;
    while (times < run.least && advance(set, at)) ++times;
    const Position low = at;
    if (times == run.least && run.mode == Instruction::lazy) {
      if (times < run.most) push({code, at, times, trail_size()});
    } else if (times == run.least) {
      while (times < run.most && advance(set, at)) ++times;
      if (at > low && run.mode == Instruction::greedy) push({code, at, low, trail_size()});
    }
    steps_ += times;
    return times >= run.least;
  }

  /// Takes as many characters as the mode wants. What is remembered may already tell the outcome.
  Outcome begin_star(std::uint32_t code, Position& at) {
    const Instruction& run = program_->code[code];
    const CharacterSet& set = program_->sets[run.set];
    const Position low = at;
    if (run.mode != Instruction::lazy) {
      if (remembers_) {
        // After a state that has failed, no end of the run leads to a match. A possessive run has only one end.
        for (Position end = at; advance(set, end);) {
          ++steps_;
          const Outcome before = outcome({run.number, end});
          if (before == matched || (before == failed && run.mode == Instruction::possessive)) return before;
          if (before == failed) break;
          at = end;
        }
      } else {
        while (advance(set, at)) ++steps_;
      }
    }
    if (run.mode == Instruction::lazy || (run.mode == Instruction::greedy && at > low) ||
        (run.mode == Instruction::possessive && remembers_))
      push({code, at, low, trail_size()});
    return unknown;
  }

  void push(const Choice& choice) {
    if (stack_.size() >= kMostChoices) too_many_choices();
    stack_.push_back(choice);
  }
  [[noreturn]] void too_many_choices() const {
    fail<InputError>("tokenizer", "a regular expression leaves more than ", kMostChoices, " choices open in a text of ",
                     text_.size(), " bytes");
  }

  void reach_limit() {
    const std::int64_t most = kSteps + kStepsPerByte * static_cast<std::int64_t>(text_.size());
    if (steps_ > most)
      fail<InputError>("tokenizer", "a regular expression takes too long: more than ", most, " steps in a text of ",
                       text_.size(), " bytes");
    limit_ = most;
    const std::size_t states = program_->states * (text_.size() + 1);
    if (program_->loops > 0 || states > kMostStates) return;
    remembers_ = true;
    memory_.assign(states / 32 + 1, 0);
  }

  std::uint32_t trail_size() const { return static_cast<std::uint32_t>(trail_.size()); }
  std::size_t place(State state) const { return std::size_t{state.at} * program_->states + state.number; }
  Outcome outcome(State state) const {
    const std::size_t i = place(state);
    return static_cast<Outcome>(memory_[i / 32] >> (i % 32 * 2) & 3);
  }
  void remember(State state, Outcome outcome) {
    const std::size_t i = place(state);
    std::uint64_t& word = memory_[i / 32];
    word = (word & ~(std::uint64_t{3} << (i % 32 * 2))) | std::uint64_t{outcome} << (i % 32 * 2);
  }
  void visit(State state) {
    if (trail_.size() >= kMostChoices) too_many_choices();
    remember(state, failed);
    trail_.push_back(state);
  }

  const PatternProgram* program_ = nullptr;
  std::string_view text_;
  std::int64_t steps_ = 0, limit_ = 0;
  std::vector<Choice> stack_;
  std::vector<Position> rounds_;  // where the current round of each loop began
  bool remembers_ = false;
  std::vector<std::uint64_t> memory_;  // two bits for each state
  std::vector<State> trail_;           // the visited states that led to the current instruction
};

PatternSearch::PatternSearch(const Pattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {
  if (!pattern.is_regex_) return;
  matcher_ = Matcher::spare() ? std::move(Matcher::spare()) : std::make_unique<Matcher>();
  matcher_->start(*pattern.program_, text);
}

PatternSearch::~PatternSearch() {
  if (matcher_ && matcher_->is_small()) Matcher::spare() = std::move(matcher_);
}

std::optional<PatternSearch::Match> PatternSearch::next() {
  if (!matcher_) {
    const std::string& text = pattern_.text();
    const std::size_t begin = text.empty() ? std::string_view::npos : text_.find(text, at_);
    if (begin == std::string_view::npos) return {};
    at_ = begin + text.size();
    return Match{begin, at_};
  }
  for (; at_ < text_.size(); at_ += static_cast<std::size_t>(decode_utf8(text_, at_).size))
    if (const auto end = matcher_->match(at_); end && *end > at_) return Match{std::exchange(at_, *end), *end};
  return {};
}

std::int64_t PatternSearch::steps() const { return matcher_ ? matcher_->steps() : 0; }

}  // namespace attend
