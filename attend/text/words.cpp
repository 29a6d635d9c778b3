#include "attend/text/words.h"

#include <algorithm>

#include "attend/text/unicode.h"

namespace attend {
namespace {

/// The index of the word of each byte, or -1 for white space.
std::vector<std::int32_t> words_of_bytes(std::string_view text) {
  std::vector<std::int32_t> words(text.size(), -1);
  std::int32_t count = 0;
  bool between = true;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    const bool space = is_space(c.value);
    if (!space && between) ++count;
    if (!space) std::fill_n(words.begin() + static_cast<std::ptrdiff_t>(i), c.size, count - 1);
    between = space;
    i += static_cast<std::size_t>(c.size);
  }
  return words;
}

}  // namespace

std::vector<std::int32_t> words_of_tokens(std::string_view text, std::span<const Span> tokens) {
  const std::vector<std::int32_t> of_byte = words_of_bytes(text);
  std::vector<std::int32_t> words;
  words.reserve(tokens.size());
  for (const Span& token : tokens) {
    const auto end = std::min(static_cast<std::size_t>(token.end), text.size());
    auto i = static_cast<std::size_t>(token.begin);
    while (i < end && of_byte[i] < 0) ++i;
    words.push_back(i < end ? of_byte[i] : -1);
  }
  return words;
}

std::size_t count_words(std::string_view text) {
  const std::vector<std::int32_t> of_byte = words_of_bytes(text);
  return of_byte.empty() ? 0 : static_cast<std::size_t>(std::ranges::max(of_byte) + 1);
}

}  // namespace attend
