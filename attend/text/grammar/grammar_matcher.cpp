#include "attend/text/grammar/grammar_matcher.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "attend/core/error.h"

namespace attend {
namespace {

using Edge = GrammarAutomaton::Edge;
using EdgeKind = GrammarAutomaton::Kind;
constexpr std::uint32_t kNoState = GrammarAutomaton::kNone;
constexpr std::uint32_t kBottom = kNoState;       // the place below the root: the text may end
constexpr std::uint32_t kVeryLong = 1 << 30;      // lengths are not counted beyond it
constexpr std::uint32_t kLongestCompared = 4096;  // among longer texts of one length any is the shortest

std::uint32_t state_of(std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 32); }
std::uint32_t below_of(std::uint64_t entry) { return static_cast<std::uint32_t>(entry); }
std::uint64_t entry_of(std::uint32_t state, std::uint32_t below) { return std::uint64_t{state} << 32 | below; }

std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
  return a == kNoState || b == kNoState ? kNoState : std::min(a + b, kVeryLong);
}

int first_usable(const Edge& edge, const ByteSet& usable) {
  for (int byte = edge.first; byte <= edge.last; ++byte)
    if (usable[static_cast<std::size_t>(byte)]) return byte;
  return -1;
}

std::vector<bool> ends_of(const GrammarAutomaton& a) {
  std::vector<bool> ends(a.edges_of.size());
  for (const GrammarAutomaton::Rule& rule : a.rules) ends[rule.end] = true;
  return ends;
}

/// The shortest way to the end of the rule of each state, found in the order of length (Knuth 1977).
struct ShortestWays {
  std::vector<std::uint32_t> lengths, choices;  // of states
  std::vector<std::uint32_t> order;             // of states, as they were found

  ShortestWays(const GrammarAutomaton& a, const ByteSet& usable)
      : lengths(a.edges_of.size(), kNoState), choices(a.edges_of.size(), kNoState) {
    const std::size_t count = a.edges_of.size();
    std::vector<std::uint32_t> from(a.edges.size());
    std::vector<std::vector<std::uint32_t>> users(count);  // edges whose length depends on a state
    for (std::uint32_t s = 0; s < count; ++s)
      for (std::uint32_t e = a.edges_of[s]; e != kNoState; e = a.edges[e].next) {
        from[e] = s;
        users[a.edges[e].target].push_back(e);
        if (a.edges[e].kind == EdgeKind::call) users[a.rules[a.edges[e].rule].start].push_back(e);
      }
    std::vector<bool> done(count);
    using Item = std::pair<std::uint32_t, std::uint32_t>;  // length, state
    std::priority_queue<Item, std::vector<Item>, std::greater<>> next;
    const std::vector<bool> ends = ends_of(a);
    for (std::uint32_t s = 0; s < count; ++s)
      if (ends[s]) lengths[s] = 0, next.emplace(0, s);
    while (!next.empty()) {
      const auto [length, s] = next.top();
      next.pop();
      if (done[s]) continue;
      done[s] = true;
      order.push_back(s);
      for (const std::uint32_t e : users[s]) {
        const Edge& edge = a.edges[e];
        if (done[from[e]] || !done[edge.target]) continue;
        std::uint32_t through = lengths[edge.target];
        if (edge.kind == EdgeKind::bytes)
          through = first_usable(edge, usable) < 0 ? kNoState : sum(through, 1);
        else if (edge.kind == EdgeKind::call)
          through = done[a.rules[edge.rule].start] ? sum(through, lengths[a.rules[edge.rule].start]) : kNoState;
        if (through >= lengths[from[e]]) continue;
        lengths[from[e]] = through, choices[from[e]] = e;
        next.emplace(through, from[e]);
      }
    }
  }
};

/// Spells the shortest text of a state byte by byte.
class Spelling {
 public:
  Spelling(const GrammarAutomaton& a, const std::vector<std::uint32_t>& choices, const ByteSet& usable)
      : a_(a), choices_(choices), usable_(usable) {}

  void enter(std::uint32_t state) { places_.push_back(state); }
  void enter(const Edge& edge) {
    places_.push_back(edge.target);
    if (edge.kind == EdgeKind::bytes) byte_ = first_usable(edge, usable_);
    if (edge.kind == EdgeKind::call) places_.push_back(a_.rules[edge.rule].start);
  }
  /// -1 at the end.
  int next() {
    if (byte_ >= 0) return std::exchange(byte_, -1);
    while (!places_.empty()) {
      const std::uint32_t choice = choices_[places_.back()];
      places_.pop_back();
      if (choice != kNoState) enter(a_.edges[choice]);  // otherwise it is the end of its rule
      if (byte_ >= 0) return std::exchange(byte_, -1);
    }
    return -1;
  }
  bool operator==(const Spelling& other) const { return byte_ == other.byte_ && places_ == other.places_; }

 private:
  const GrammarAutomaton& a_;
  const std::vector<std::uint32_t>& choices_;
  const ByteSet& usable_;
  std::vector<std::uint32_t> places_;
  int byte_ = -1;
};

}  // namespace

std::vector<std::uint32_t> shortest_lengths(const GrammarAutomaton& automaton, const ByteSet& usable) {
  return ShortestWays(automaton, usable).lengths;
}

GrammarMatcher::GrammarMatcher(Grammar grammar, const ByteSet& usable)
    : grammar_(std::move(grammar)), automaton_(&grammar_.automaton()), usable_(usable) {
  const GrammarAutomaton& a = *automaton_;
  const std::size_t count = a.edges_of.size();
  ends_ = ends_of(a);
  reads_.resize(count), skipped_.resize(count);
  std::bitset<257> begins;  // of classes of bytes
  for (std::uint32_t s = 0; s < count; ++s) {
    for (std::uint32_t e = a.edges_of[s]; e != kNoState; e = a.edges[e].next) {
      if (a.edges[e].kind != EdgeKind::bytes) continue;
      reads_[s] = 1;
      begins.set(a.edges[e].first), begins.set(a.edges[e].last + 1U);
    }
    std::uint32_t at = s;
    for (int steps = 0; steps < 1000 && !ends_[at]; ++steps) {
      const std::uint32_t e = a.edges_of[at];
      if (e == kNoState || a.edges[e].kind != EdgeKind::empty || a.edges[e].next != kNoState) break;
      at = a.edges[e].target;
    }
    skipped_[s] = at;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (byte > 0 && begins[byte]) ++classes_;
    class_of_[byte] = static_cast<std::uint8_t>(classes_ - 1);
  }
  choose_shortest();
  below_.resize(count), stamps_.resize(count), is_open_.resize(count), pending_.resize(count);
  clear();
}

void GrammarMatcher::choose_shortest() {
  const GrammarAutomaton& a = *automaton_;
  ShortestWays ways(a, usable_);
  lengths_ = std::move(ways.lengths), choices_ = std::move(ways.choices);
  // Among the shortest texts, the first in the order of bytes. A change never makes a circle, since the text through it
  // would be smaller than itself.
  const auto length_through = [&](const Edge& edge) {
    if (edge.kind == EdgeKind::bytes) return first_usable(edge, usable_) < 0 ? kNoState : sum(lengths_[edge.target], 1);
    if (edge.kind == EdgeKind::empty) return lengths_[edge.target];
    return sum(lengths_[edge.target], lengths_[a.rules[edge.rule].start]);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t s : ways.order) {
      if (lengths_[s] == 0 || lengths_[s] > kLongestCompared) continue;
      for (std::uint32_t e = a.edges_of[s]; e != kNoState; e = a.edges[e].next)
        if (e != choices_[s] && length_through(a.edges[e]) == lengths_[s] &&
            is_smaller(a.edges[e], a.edges[choices_[s]]))
          choices_[s] = e, changed = true;
    }
  }
  depths_.assign(lengths_.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t s : ways.order) {
      if (choices_[s] == kNoState) continue;
      const Edge& edge = a.edges[choices_[s]];
      std::uint32_t depth = depths_[edge.target];
      if (edge.kind == EdgeKind::call)  // the last call of a rule does not nest
        depth = std::max(depth, depths_[a.rules[edge.rule].start] + (ends_[skipped_[edge.target]] ? 0 : 1));
      if (depth != depths_[s]) depths_[s] = depth, changed = true;
    }
  }
}

/// Compares the shortest texts through two edges, which have the same length.
bool GrammarMatcher::is_smaller(const Edge& a, const Edge& b) const {
  Spelling one(*automaton_, choices_, usable_), other(*automaton_, choices_, usable_);
  one.enter(a), other.enter(b);
  while (!(one == other)) {
    const int byte = one.next(), instead = other.next();
    if (byte != instead) return byte < instead;
    if (byte < 0) return false;
  }
  return false;
}

void GrammarMatcher::clear() {
  known_.clear(), sets_.clear(), united_.clear(), rows_.clear(), steps_.clear();
  intern({});
  intern({entry_of(kBottom, kDead)});
}

std::size_t GrammarMatcher::Hash::operator()(const Entries& entries) const {
  std::uint64_t hash = entries.size();
  for (const std::uint64_t entry : entries) {
    hash = (hash ^ entry) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  }
  return hash;
}

std::uint32_t GrammarMatcher::intern(Entries&& entries) {
  const auto [found, is_new] = known_.try_emplace(std::move(entries), static_cast<std::uint32_t>(sets_.size()));
  if (!is_new) return found->second;
  Set set{&found->first, 0, kNoState, kNoState};
  for (const std::uint64_t entry : found->first) {
    if (state_of(entry) == kBottom) {
      set.length = 0;
      continue;
    }
    const Set& below = sets_[below_of(entry)];
    set.depth = std::max(set.depth, below.depth + 1);
    set.length = std::min(set.length, sum(lengths_[state_of(entry)], below.length));
  }
  sets_.push_back(set);
  rows_.push_back(kNoState);
  budget_ -= std::ssize(found->first);
  return found->second;
}

/// The stacks of all of these sets. The list is changed.
std::uint32_t GrammarMatcher::unite(std::vector<std::uint32_t>& sets) {
  std::ranges::sort(sets);
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());  // Clang 14 cannot compile std::ranges::unique
  if (sets.size() == 1 || budget_ <= 0) return sets.front();
  const std::uint64_t key = entry_of(sets[0], sets[1]);
  if (sets.size() == 2)
    if (const auto known = united_.find(key); known != united_.end()) return known->second;
  Entries all;
  for (const std::uint32_t set : sets) all.insert(all.end(), sets_[set].entries->begin(), sets_[set].entries->end());
  budget_ -= std::ssize(all);
  std::ranges::sort(all);
  Entries both;
  std::vector<std::uint32_t> below;
  for (std::size_t i = 0; i < all.size();) {
    const std::uint32_t state = state_of(all[i]);
    below.clear();
    for (; i < all.size() && state_of(all[i]) == state; ++i) below.push_back(below_of(all[i]));
    both.push_back(entry_of(state, unite(below)));
  }
  const std::uint32_t united = intern(std::move(both));
  if (sets.size() == 2) united_[key] = united;
  return united;
}

void GrammarMatcher::add(std::uint32_t state, std::uint32_t below) {
  state = skipped_[state];
  --budget_;
  if (lengths_[state] == kNoState || sets_[below].depth + depths_[state] > kDeepest) return;
  if (stamps_[state] != stamp_) {
    stamps_[state] = stamp_, below_[state] = kDead;
    touched_.push_back(state);
  } else if (below_[state] == below) {
    return;
  }
  pending_[state].push_back(below);
  if (!is_open_[state]) open_.push_back(state), is_open_[state] = true;
}

/// Follows all edges that need no byte. Returns the set of the states that were added.
std::uint32_t GrammarMatcher::close() {
  const GrammarAutomaton& a = *automaton_;
  for (std::size_t next = 0; next < open_.size(); ++next) {
    const std::uint32_t state = open_[next];
    is_open_[state] = false;
    // Many calls of one rule are united at once. The dead set, which has no stacks, stands for none so far.
    std::vector<std::uint32_t>& pending = pending_[state];
    if (below_[state] != kDead) pending.push_back(below_[state]);
    const std::uint32_t below = unite(pending);
    pending.clear();
    if (budget_ <= 0 || std::exchange(below_[state], below) == below) continue;
    if (ends_[state]) {
      for (const std::uint64_t entry : *sets_[below].entries)
        if (state_of(entry) == kBottom)
          accepted_ = true;
        else
          add(state_of(entry), below_of(entry));
    }
    for (std::uint32_t e = a.edges_of[state]; e != kNoState; e = a.edges[e].next) {
      const Edge& edge = a.edges[e];
      if (edge.kind == EdgeKind::empty) add(edge.target, below);
      if (edge.kind != EdgeKind::call) continue;
      const std::uint32_t back = skipped_[edge.target], start = a.rules[edge.rule].start;
      if (ends_[back])  // the last call of a rule needs no place to return to
        add(start, below);
      else if (lengths_[back] != kNoState && sets_[below].depth + depths_[back] <= kDeepest)
        add(start, intern({entry_of(back, below)}));
    }
  }
  open_.clear();
  Entries entries;
  for (const std::uint32_t state : touched_)
    if (reads_[state]) entries.push_back(entry_of(state, below_[state]));
  touched_.clear();
  if (std::exchange(accepted_, false)) entries.push_back(entry_of(kBottom, kDead));
  std::ranges::sort(entries);
  return intern(std::move(entries));
}

std::uint32_t GrammarMatcher::start() {
  if (++stamp_ == 0) std::ranges::fill(stamps_, 0U), stamp_ = 1;
  add(automaton_->rules[automaton_->root].start, 1);
  return close();
}

std::uint32_t GrammarMatcher::step(std::uint32_t set, unsigned char byte) {
  if (rows_[set] == kNoState) {
    rows_[set] = static_cast<std::uint32_t>(steps_.size() / classes_);
    steps_.resize(steps_.size() + classes_, kNoState);
  }
  const std::size_t place = std::size_t{rows_[set]} * classes_ + class_of_[byte];
  if (steps_[place] != kNoState) return steps_[place];
  if (budget_ <= 0) return kDead;
  if (++stamp_ == 0) std::ranges::fill(stamps_, 0U), stamp_ = 1;
  const GrammarAutomaton& a = *automaton_;
  budget_ -= std::ssize(*sets_[set].entries) / 16;
  for (const std::uint64_t entry : *sets_[set].entries) {
    if (state_of(entry) == kBottom) continue;
    for (std::uint32_t e = a.edges_of[state_of(entry)]; e != kNoState; e = a.edges[e].next) {
      const Edge& edge = a.edges[e];
      if (edge.kind == EdgeKind::bytes && edge.first <= byte && byte <= edge.last) add(edge.target, below_of(entry));
    }
  }
  const std::uint32_t next = close();
  if (budget_ <= 0) return kDead;
  return steps_[place] = next;
}

bool GrammarMatcher::accepts(std::uint32_t set) const {
  const Entries& entries = *sets_[set].entries;
  return !entries.empty() && state_of(entries.back()) == kBottom;
}

/// The entry with the shortest text.
std::uint32_t GrammarMatcher::best(std::uint32_t set) {
  if (sets_[set].best != kNoState) return sets_[set].best;
  const Entries& entries = *sets_[set].entries;
  std::uint32_t best = kNoState;
  std::string text;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const std::uint32_t state = state_of(entries[i]);
    const std::uint32_t length = state == kBottom ? 0 : sum(lengths_[state], sets_[below_of(entries[i])].length);
    if (length != sets_[set].length) continue;
    if (best == kNoState) {
      best = i;
      continue;
    }
    if (length > kLongestCompared) break;
    if (text.empty()) text = shortest_with(set, best);
    if (std::string other = shortest_with(set, i); other < text) best = i, text = std::move(other);
  }
  return sets_[set].best = best;
}

std::string GrammarMatcher::shortest_with(std::uint32_t set, std::size_t entry) {
  std::string text;
  for (;;) {
    const std::uint64_t one = (*sets_[set].entries)[entry];
    if (state_of(one) == kBottom) return text;
    append_shortest(state_of(one), text);
    set = below_of(one);
    entry = best(set);
  }
}

void GrammarMatcher::append_shortest(std::uint32_t state, std::string& text) const {
  Spelling spelling(*automaton_, choices_, usable_);
  spelling.enter(state);
  for (int byte = spelling.next(); byte >= 0; byte = spelling.next()) text += static_cast<char>(byte);
}

std::string GrammarMatcher::shortest(std::uint32_t set) { return set == kDead ? "" : shortest_with(set, best(set)); }

}  // namespace attend
