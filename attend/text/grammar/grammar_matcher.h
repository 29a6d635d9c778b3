// Follows texts through a grammar, byte by byte. The grammar is nondeterministic: a position in it is a set of stacks
// of places in rules. Equal sets get the same number, and the step from a set by a byte is computed once.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "attend/text/grammar/grammar.h"

namespace attend {

using ByteSet = std::bitset<256>;

/// The maximum length of the shortest text of a grammar, in bytes.
constexpr std::uint32_t kLongestShortest = 1 << 20;

/// For each state, the length of the shortest text to the end of its rule in bytes, or kNone. Only usable bytes count.
std::vector<std::uint32_t> shortest_lengths(const GrammarAutomaton& automaton, const ByteSet& usable = ByteSet().set());

/// Not safe for several threads at once.
class GrammarMatcher {
 public:
  static constexpr std::uint32_t kDead = 0;         ///< no text continues here
  static constexpr std::uint32_t kDeepest = 500;    ///< nested rules; what nests deeper does not conform
  static constexpr std::int64_t kBudget = 1 << 20;  ///< work for steps that were not computed before

  /// Texts end only with usable bytes: a place from which every end needs others is not entered.
  explicit GrammarMatcher(Grammar grammar, const ByteSet& usable = ByteSet().set());

  /// The set before the first byte; kDead if no text of usable bytes conforms.
  std::uint32_t start();
  /// The set after a byte. When the budget is used up, it is kDead for steps that were not computed before.
  std::uint32_t step(std::uint32_t set, unsigned char byte);
  void renew_budget() { budget_ = kBudget; }
  /// Whether the text may end here.
  bool accepts(std::uint32_t set) const;
  /// The number of bytes of the shortest text from here to an end.
  std::uint32_t shortest_length(std::uint32_t set) const { return sets_[set].length; }
  /// That text; of several, the first in the order of bytes. So after a part of it, the rest is the shortest text.
  std::string shortest(std::uint32_t set);

  /// The number of sets and their parts. clear() forgets all of them.
  std::size_t size() const { return sets_.size(); }
  void clear();

 private:
  /// A set of stacks as a tree: the places on top, each with the set of stacks below it.
  using Entries = std::vector<std::uint64_t>;  // sorted: state << 32 | set below
  struct Hash {
    std::size_t operator()(const Entries& entries) const;
  };
  struct Set {
    const Entries* entries;
    std::uint32_t depth, length, best;  // best: the entry of the shortest text, or kNone
  };

  void choose_shortest();
  std::uint32_t intern(Entries&& entries);
  std::uint32_t unite(std::vector<std::uint32_t>& sets);
  void add(std::uint32_t state, std::uint32_t below);
  std::uint32_t close();
  std::uint32_t best(std::uint32_t set);
  std::string shortest_with(std::uint32_t set, std::size_t entry);
  void append_shortest(std::uint32_t state, std::string& text) const;
  bool is_smaller(const GrammarAutomaton::Edge& a, const GrammarAutomaton::Edge& b) const;

  Grammar grammar_;
  const GrammarAutomaton* automaton_;
  ByteSet usable_;
  // Of each state:
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> choices_;  // the first edge of the shortest text
  std::vector<std::uint32_t> depths_;   // how deep that text nests
  std::vector<std::uint8_t> reads_;     // has edges of bytes
  std::vector<std::uint32_t> skipped_;  // the state that single empty edges lead to
  std::vector<bool> ends_;              // is the end of its rule

  std::array<std::uint8_t, 256> class_of_;  // bytes of one class are on the same edges
  std::size_t classes_ = 1;

  std::unordered_map<Entries, std::uint32_t, Hash> known_;
  std::vector<Set> sets_;
  std::unordered_map<std::uint64_t, std::uint32_t> united_;
  std::vector<std::uint32_t> rows_;   // of each set: where its steps are in steps_, or kNone
  std::vector<std::uint32_t> steps_;  // by class; kNone: not computed
  std::int64_t budget_ = kBudget;

  // Of the step that is being computed: the set below each state, valid where the stamp is the present one.
  std::vector<std::uint32_t> below_, stamps_, open_, touched_;
  std::vector<bool> is_open_;
  std::vector<std::vector<std::uint32_t>> pending_;  // sets that are to be united with the one below the state
  std::uint32_t stamp_ = 0;
  bool accepted_ = false;
};

}  // namespace attend
