// A grammar for the tokens of a vocabulary: which tokens may come next, so that the text conforms when it ends, and
// ends within the tokens that are left.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attend/text/grammar/grammar_matcher.h"
#include "attend/text/grammar/token_trie.h"

namespace attend {

/// Tokens as bits: bit id % 64 of element id / 64.
using TokenBits = std::vector<std::uint64_t>;

/// Where a hypothesis is in a grammar.
struct GrammarPosition {
  std::uint64_t epoch = 0;
  std::uint32_t set = 0;
  std::size_t read = 0;  ///< tokens
};

/// Safe for several threads at once. What was computed for one text serves all others.
class TokenGrammar {
 public:
  /// `ends` are the tokens that end a text. They are allowed where the grammar may end, and nowhere else; without them,
  /// a text ends where nothing can follow. Throws InputError if the tokens cannot write any text of the grammar.
  TokenGrammar(const Grammar& grammar, std::shared_ptr<const TokenTexts> texts, std::vector<std::int32_t> ends);

  /// A number of tokens, with the end token, in which a text can be written. It is the smallest number for the text
  /// with the fewest bytes.
  std::int64_t shortest() const { return shortest_; }

  /// The tokens that may follow, such that the text can end within `room` tokens, with the next one and the end token.
  /// `generated` are all tokens so far. `position` is where a part of them has led, and is moved on. There is always
  /// one if the room was at least shortest() at the beginning, and each token was one of those that were allowed.
  std::shared_ptr<const TokenBits> allowed(std::span<const std::int32_t> generated, GrammarPosition& position,
                                           std::int64_t room) const;
  /// Whether the text conforms as it is.
  bool accepts(std::span<const std::int32_t> generated) const;

 private:
  struct Mask {
    std::shared_ptr<TokenBits> tokens;
    std::uint32_t longest = 0;  // number of bytes that the text needs at most after one of the tokens
    /// Of each token: how many more tokens the text needs after it. Computed when it is needed.
    std::vector<std::uint16_t> needs;
  };
  static constexpr std::uint16_t kNever = 0xFFFF;

  void advance(std::span<const std::int32_t> generated, GrammarPosition& position) const;
  std::uint32_t after(std::uint32_t set, std::int32_t token, bool first) const;
  Mask& mask_of(std::uint32_t set, bool first) const;
  template <typename F>
  void walk(const TokenTrie& trie, std::uint32_t set, F&& found) const;
  void measure(Mask& mask, std::uint32_t set, bool first) const;
  std::uint16_t tokens_to_end(std::uint32_t set, bool first = false) const;
  const TokenTrie& trie(bool first) const { return first ? texts_->first : texts_->later; }

  std::shared_ptr<const TokenTexts> texts_;
  std::vector<std::int32_t> ends_;
  bool writes_all_bytes_ = true;  // each byte that the grammar may need is a token
  std::int64_t shortest_ = 0;

  mutable std::mutex mutex_;
  mutable GrammarMatcher matcher_;
  mutable std::uint64_t epoch_ = 1;  // changes when the sets are forgotten
  mutable std::uint32_t start_ = 0;
  mutable std::unordered_map<std::uint32_t, Mask> masks_;
  mutable std::unordered_map<std::uint32_t, std::uint16_t> to_end_;
  mutable std::size_t bytes_ = 0;  // of the masks
};

/// The grammars of a model. It keeps the last ones, so that requests with the same grammar share it. Safe for several
/// threads at once.
class TokenGrammars {
 public:
  /// Compiles a grammar, unless it is among the last ones. `vocabulary` is the number of ids that the model has. All
  /// but the grammar must be the same in each call. Throws InputError as Grammar and TokenGrammar do.
  std::shared_ptr<const TokenGrammar> get(const std::string& gbnf, const Tokenizer& tokenizer,
                                          const std::vector<std::int32_t>& ends, std::int64_t vocabulary);

 private:
  std::mutex mutex_;
  std::shared_ptr<const TokenTexts> texts_;
  std::vector<std::pair<std::string, std::shared_ptr<const TokenGrammar>>> recent_;  // the last one first
};

}  // namespace attend
