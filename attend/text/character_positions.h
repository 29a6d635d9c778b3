// Converts positions in a text from bytes to characters, as Python counts them.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

class CharacterPositions {
 public:
  explicit CharacterPositions(std::string_view text) {
    at_.reserve(text.size() + 1);
    std::int64_t count = -1;
    for (const char byte : text) at_.push_back(count += (byte & 0xC0) != 0x80);
    at_.push_back(count + 1);
  }
  /// A span that ends inside a character includes it. Tokens that are single bytes have such spans.
  Span operator()(Span span) const {
    const std::int64_t begin = at(span.begin), last = at(std::max(span.begin, span.end - 1));
    return {begin, span.end > span.begin ? last + 1 : begin};
  }

 private:
  std::int64_t at(std::int64_t byte) const { return at_[static_cast<std::size_t>(byte)]; }
  std::vector<std::int64_t> at_;
};

}  // namespace attend
