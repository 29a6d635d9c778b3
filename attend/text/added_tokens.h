// Finds added tokens in a text. At each position the longest match wins.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
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
    std::string content;
    std::int32_t id;
    bool single_word, lstrip, rstrip;
  };
  const Entry* at(std::string_view text, std::size_t at) const;

  std::vector<Entry> tokens_;                           // longest first
  std::array<std::vector<std::uint32_t>, 256> begins_;  // by first byte, longest first
  std::string first_bytes_;
};

}  // namespace attend
