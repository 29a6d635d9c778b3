// The texts of a vocabulary's tokens as bytes, and a trie of them: which tokens may continue a text is found by walking
// the trie once.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

/// Immutable, so safe to use from many threads.
class TokenTrie {
 public:
  /// A node, in depth-first order. Its children follow it; `skip` is the index after its last descendant.
  struct Node {
    std::uint32_t skip = 0, tokens = 0;  ///< tokens: the index of its first token
    std::uint32_t depth = 0;             ///< the length of its text
    unsigned char byte = 0;              ///< the last byte of its text
  };
  /// Tokens with an empty text are left out, and those that are longer than 1,000 bytes.
  explicit TokenTrie(std::vector<std::string> texts);

  const std::vector<Node>& nodes() const { return nodes_; }
  /// The tokens whose text a node is.
  std::span<const std::int32_t> tokens(std::size_t node) const {
    const std::size_t end = node + 1 < nodes_.size() ? nodes_[node + 1].tokens : tokens_.size();
    return std::span(tokens_).subspan(nodes_[node].tokens, end - nodes_[node].tokens);
  }
  /// The text of a token; empty if it was left out.
  std::string_view text(std::int32_t token) const { return texts_[static_cast<std::size_t>(token)]; }
  std::int64_t vocabulary() const { return std::ssize(texts_); }
  std::uint32_t depth() const { return depth_; }
  /// Calls f(length) for each token that a text begins with, once for each length.
  template <typename F>
  void each_prefix(std::string_view text, F&& f) const;

 private:
  std::vector<std::string> texts_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> tokens_;
  std::uint32_t roots_[257];  // by first byte: its node; the next one is larger where there is none
  std::uint32_t depth_ = 0;
};

/// What each token adds to a text, for tokenizers whose tokens are parts of the text: byte-level BPE, SentencePiece's
/// kind, and unigrams. A token may end inside a character.
struct TokenTexts {
  TokenTrie later;  ///< of tokens after others
  TokenTrie first;  ///< of the first token, which may lose a space

  /// Special tokens, which have no text, are left out, and so are `without`. Throws InputError for a tokenizer whose
  /// texts depend on more than the token, such as WordPiece.
  explicit TokenTexts(const Tokenizer& tokenizer, std::span<const std::int32_t> without = {});
};

template <typename F>
void TokenTrie::each_prefix(std::string_view text, F&& f) const {
  if (text.empty()) return;
  const auto first = static_cast<unsigned char>(text[0]);
  std::size_t node = roots_[first], end = roots_[first + 1];
  for (std::size_t at = 0; node < end;) {
    // `node` is the first child that could have the byte text[at]
    if (nodes_[node].byte != static_cast<unsigned char>(text[at])) {
      node = nodes_[node].skip;
      continue;
    }
    ++at;
    if (!tokens(node).empty()) f(at);
    if (at == text.size()) return;
    end = nodes_[node].skip;
    ++node;
  }
}

}  // namespace attend
