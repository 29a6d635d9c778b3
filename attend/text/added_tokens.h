// Finds added tokens in a text. At each position the longest match wins.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attend/text/pre_tokenizer.h"

namespace attend {

struct AddedToken;

class AddedTokenFinder {
 public:
  /// Adds a token to search for. `content` is its text after normalization, if the token is normalized.
  void add(std::string content, const AddedToken& token);
  bool empty() const { return tokens_.empty(); }
  /// Splits the text into words: the added tokens, and the text between them. An empty text has no words.
  void cut(std::string_view text, std::vector<Word>& words) const;

 private:
  struct Entry {
    std::size_t size;
    std::int32_t id;
    bool single_word, lstrip, rstrip;
  };
  /// The longest token at a position.
  const Entry* at(std::string_view text, std::size_t at) const;

  // The tokens as a trie: some models of speech add tens of thousands that begin alike.
  static constexpr std::uint32_t kRoot = 0, kNone = 0xFFFFFFFF;
  static std::uint64_t step(std::uint32_t node, char next) {
    return std::uint64_t{node} << 8 | static_cast<unsigned char>(next);
  }
  std::vector<Entry> tokens_;
  std::vector<std::uint32_t> token_of_ = {kNone};           // for each node, the token that ends there
  std::unordered_map<std::uint64_t, std::uint32_t> steps_;  // from a node by a byte to the next node
  std::string first_bytes_;
};

}  // namespace attend
