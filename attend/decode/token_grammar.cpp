#include "attend/decode/token_grammar.h"

#include <algorithm>
#include <string>

#include "attend/core/error.h"

namespace attend {
namespace {

constexpr std::size_t kMostSets = 1 << 16, kMostMaskBytes = 32 << 20;
constexpr std::size_t kLongestSpelled = 4096;  // longer texts are taken to need a token for each byte

/// The bytes that a text can end with: those that are tokens, and parts of characters that are parts of tokens.
ByteSet usable_bytes(const TokenTrie& trie) {
  ByteSet usable;
  for (std::size_t node = 0; node < trie.nodes().size(); ++node) {
    const TokenTrie::Node& one = trie.nodes()[node];
    if (one.byte >= 0x80 || (one.depth == 1 && !trie.tokens(node).empty())) usable.set(one.byte);
  }
  return usable;
}

ByteSet single_bytes(const TokenTrie& trie) {
  ByteSet single;
  for (std::size_t node = 0; node < trie.nodes().size(); node = trie.nodes()[node].skip)
    if (!trie.tokens(node).empty()) single.set(trie.nodes()[node].byte);
  return single;
}

void set_bit(TokenBits& bits, std::int32_t token) {
  bits[static_cast<std::size_t>(token) / 64] |= std::uint64_t{1} << (token % 64);
}

}  // namespace

TokenGrammar::TokenGrammar(const Grammar& grammar, std::shared_ptr<const TokenTexts> texts,
                           std::vector<std::int32_t> ends)
    : texts_(std::move(texts)), ends_(std::move(ends)), matcher_(grammar, usable_bytes(texts_->later)) {
  const ByteSet single = single_bytes(texts_->later);
  for (const GrammarAutomaton::Edge& edge : grammar.automaton().edges)
    for (int byte = edge.first; edge.kind == GrammarAutomaton::Kind::bytes && byte <= edge.last; ++byte)
      writes_all_bytes_ = writes_all_bytes_ && single[static_cast<std::size_t>(byte)];
  start_ = matcher_.start();
  const std::uint16_t fewest = tokens_to_end(start_, true);
  if (fewest == kNever)
    fail<InputError>("grammar", start_ == GrammarMatcher::kDead || matcher_.shortest_length(start_) < kLongestSpelled
                                    ? "the tokens of the model cannot write the texts of the grammar"
                                    : "the shortest text of the grammar is too long");
  shortest_ = fewest + (ends_.empty() ? 0 : 1);
}

/// The smallest number of tokens that spell the shortest text from a set.
std::uint16_t TokenGrammar::tokens_to_end(std::uint32_t set, bool first) const {
  if (set == GrammarMatcher::kDead) return kNever;
  if (!first)
    if (const auto known = to_end_.find(set); known != to_end_.end()) return known->second;
  const std::uint32_t length = matcher_.shortest_length(set);
  std::uint32_t count = length;
  if (length > kLongestSpelled) {
    if (!writes_all_bytes_) count = kNever;
  } else if (length > 0) {
    const std::string text = matcher_.shortest(set);
    std::vector<std::uint32_t> tokens(length + 1, kNever);  // from each place
    tokens[length] = 0;
    for (std::size_t at = length; at-- > 0;)
      trie(first && at == 0).each_prefix(std::string_view(text).substr(at), [&](std::size_t size) {
        tokens[at] = std::min(tokens[at], tokens[at + size] + 1);
      });
    count = tokens[0];
  }
  const auto fewest = static_cast<std::uint16_t>(std::min<std::uint32_t>(count, kNever));
  if (!first) to_end_[set] = fewest;
  return fewest;
}

/// Calls found(token node, set) for each node of the trie with tokens that a text may continue with.
template <typename F>
void TokenGrammar::walk(const TokenTrie& trie, std::uint32_t set, F&& found) const {
  // First the shortest text, so that its tokens are found even if the budget ends before the others.
  if (matcher_.shortest_length(set) <= kLongestSpelled) {
    std::uint32_t at = set;
    for (const char c : matcher_.shortest(set).substr(0, trie.depth())) {
      matcher_.renew_budget();
      at = matcher_.step(at, static_cast<unsigned char>(c));
    }
  }
  matcher_.renew_budget();
  std::vector<std::uint32_t> path(trie.depth() + 1, set);
  const std::vector<TokenTrie::Node>& nodes = trie.nodes();
  for (std::size_t n = 0; n < nodes.size();) {
    const std::uint32_t next = matcher_.step(path[nodes[n].depth - 1], nodes[n].byte);
    if (next == GrammarMatcher::kDead) {
      n = nodes[n].skip;
      continue;
    }
    path[nodes[n].depth] = next;
    found(n, next);
    ++n;
  }
  matcher_.renew_budget();
}

TokenGrammar::Mask& TokenGrammar::mask_of(std::uint32_t set, bool first) const {
  // The first token has masks of its own. No set has this number.
  const std::uint32_t key = first ? GrammarAutomaton::kNone : set;
  if (const auto known = masks_.find(key); known != masks_.end()) return known->second;
  Mask& mask = masks_[key];
  mask.tokens = std::make_shared<TokenBits>(static_cast<std::size_t>(texts_->later.vocabulary() + 63) / 64);
  const TokenTrie& all = trie(first);
  walk(all, set, [&](std::size_t node, std::uint32_t next) {
    const std::span<const std::int32_t> tokens = all.tokens(node);
    if (tokens.empty()) return;
    mask.longest = std::max(mask.longest, matcher_.shortest_length(next));
    for (const std::int32_t token : tokens) set_bit(*mask.tokens, token);
  });
  if (matcher_.accepts(set))
    for (const std::int32_t end : ends_) set_bit(*mask.tokens, end);
  bytes_ += mask.tokens->size() * sizeof(mask.tokens->front());
  return mask;
}

void TokenGrammar::measure(Mask& mask, std::uint32_t set, bool first) const {
  if (!mask.needs.empty()) return;
  mask.needs.assign(static_cast<std::size_t>(texts_->later.vocabulary()), kNever);
  const TokenTrie& all = trie(first);
  walk(all, set, [&](std::size_t node, std::uint32_t next) {
    const std::span<const std::int32_t> tokens = all.tokens(node);
    if (tokens.empty()) return;
    const std::uint16_t need = tokens_to_end(next);
    for (const std::int32_t token : tokens) mask.needs[static_cast<std::size_t>(token)] = need;
  });
  bytes_ += mask.needs.size() * sizeof(mask.needs.front());
}

std::uint32_t TokenGrammar::after(std::uint32_t set, std::int32_t token, bool first) const {
  const std::string_view text = trie(first).text(token);
  if (text.empty()) return GrammarMatcher::kDead;
  for (const char c : text) {
    matcher_.renew_budget();
    set = matcher_.step(set, static_cast<unsigned char>(c));
  }
  return set;
}

void TokenGrammar::advance(std::span<const std::int32_t> generated, GrammarPosition& position) const {
  if (matcher_.size() > kMostSets || bytes_ > kMostMaskBytes) {
    ++epoch_, bytes_ = 0;
    masks_.clear(), to_end_.clear(), matcher_.clear();
    start_ = matcher_.start();
  }
  if (position.epoch != epoch_) position = {epoch_, start_, 0};
  for (; position.read < generated.size(); ++position.read)
    position.set = after(position.set, generated[position.read], position.read == 0);
}

std::shared_ptr<const TokenBits> TokenGrammar::allowed(std::span<const std::int32_t> generated,
                                                       GrammarPosition& position, std::int64_t room) const {
  const std::lock_guard lock(mutex_);
  matcher_.renew_budget();
  advance(generated, position);
  const bool first = generated.empty();
  Mask& mask = mask_of(position.set, first);
  const std::int64_t left = room - (ends_.empty() ? 1 : 2);  // after the next token, without the end token
  if (writes_all_bytes_ && mask.longest <= left) return mask.tokens;
  measure(mask, position.set, first);
  auto tokens = std::make_shared<TokenBits>(mask.tokens->size());
  const auto most = static_cast<std::uint16_t>(std::clamp<std::int64_t>(left, 0, kNever - 1));
  for (std::size_t id = 0; left >= 0 && id < mask.needs.size(); ++id)
    (*tokens)[id / 64] |= std::uint64_t{mask.needs[id] <= most} << (id % 64);
  if (matcher_.accepts(position.set))
    for (const std::int32_t end : ends_) set_bit(*tokens, end);
  return tokens;
}

bool TokenGrammar::accepts(std::span<const std::int32_t> generated) const {
  if (!generated.empty() && std::ranges::find(ends_, generated.back()) != ends_.end())
    generated = generated.first(generated.size() - 1);
  const std::lock_guard lock(mutex_);
  GrammarPosition position;
  advance(generated, position);
  return matcher_.accepts(position.set);
}

std::shared_ptr<const TokenGrammar> TokenGrammars::get(const std::string& gbnf, const Tokenizer& tokenizer,
                                                       const std::vector<std::int32_t>& ends, std::int64_t vocabulary) {
  constexpr std::size_t kRecent = 4;
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(
        recent_, gbnf, [](const auto& one) -> const auto& { return one.first; });
    if (known != recent_.end()) {
      std::rotate(recent_.begin(), known, known + 1);
      return recent_.front().second;
    }
    if (!texts_) {
      std::vector<std::int32_t> without = ends;
      for (std::int64_t id = vocabulary; id < tokenizer.size(); ++id) without.push_back(static_cast<std::int32_t>(id));
      texts_ = std::make_shared<const TokenTexts>(tokenizer, without);
    }
  }
  auto made = std::make_shared<const TokenGrammar>(Grammar(gbnf), texts_, ends);
  const std::lock_guard lock(mutex_);
  recent_.insert(recent_.begin(), {gbnf, made});
  if (recent_.size() > kRecent) recent_.pop_back();
  return made;
}

}  // namespace attend
