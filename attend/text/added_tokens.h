// Finds added tokens in a text: at each place the longest that fits.
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
  /// One of the tokens, by what is looked for, which normalisation may have changed.
  void add(std::string content, const AddedToken& token);
  bool empty() const { return tokens_.empty(); }
  /// Makes the text words: tokens that were found, and what is between them. None for an empty text.
  void cut(std::string_view text, std::vector<Word>& words) const;

 private:
  struct Entry {
    std::string content;
    std::int32_t id;
    bool single_word, lstrip, rstrip;
  };
  const Entry* at(std::string_view text, std::size_t at) const;

  std::vector<Entry> tokens_;                           // the longest first
  std::array<std::vector<std::uint32_t>, 256> begins_;  // those that begin with a byte, the longest first
  std::string first_bytes_;
};

}  // namespace attend
