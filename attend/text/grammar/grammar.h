// Context-free grammars in GBNF, the notation of llama.cpp, compiled to an automaton over bytes. grammar_matcher.h
// follows a text through it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

/// The automaton of a grammar. Each rule is a part of it, from its start to its end. A call edge goes through another
/// rule and continues at its target.
struct GrammarAutomaton {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  enum class Kind : std::uint8_t { empty, bytes, call };
  struct Edge {
    Kind kind = Kind::empty;
    std::uint8_t first = 0, last = 0;  ///< of bytes
    std::uint32_t target = 0;
    std::uint32_t rule = 0;      ///< of a call
    std::uint32_t next = kNone;  ///< the next edge of the same state
  };
  struct Rule {
    std::string name;
    std::uint32_t start = kNone, end = kNone;
    std::pair<int, int> place = {};  ///< line and column of its definition, or of its first use
  };
  std::vector<std::uint32_t> edges_of;  ///< the first edge of each state, or kNone
  std::vector<Edge> edges;
  std::vector<Rule> rules;
  std::uint32_t root = 0;  ///< a rule
};

/// Immutable and cheap to copy.
class Grammar {
 public:
  static constexpr std::size_t kMostStates = 1 << 18;  ///< of the automaton; a repetition has a state for each time
  static constexpr std::int64_t kMostRepetitions = 1 << 16;
  static constexpr int kDeepest = 100;  ///< nested groups

  /// Parses a grammar:
  ///   root  ::= "yes" | "no" reason?       # the text is a "root"
  ///   reason ::= ", " [a-z ]{1,40} | (":" [^\n]+)
  /// Rules have names of letters, digits, - and _. Literals and classes have the escapes \n \r \t \\ \" \[ \] \xHH
  /// \uHHHH \UHHHHHHHH. Classes have ranges and negation; `.` is any character. Groups, alternatives, * + ? {m} {m,}
  /// {m,n}, comments. Throws InputError with line and column for what is not GBNF, undefined rules, a missing root,
  /// left recursion, a grammar without any text, or one that is too large.
  explicit Grammar(std::string_view gbnf);

  /// Whether a text conforms. Takes time proportional to the text for grammars without strong ambiguity.
  bool accepts(std::string_view text) const;

  const GrammarAutomaton& automaton() const { return *automaton_; }

 private:
  std::shared_ptr<const GrammarAutomaton> automaton_;
};

/// A text as a literal of GBNF, with quotes. The text must be valid UTF-8.
std::string gbnf_literal(std::string_view text);

}  // namespace attend
