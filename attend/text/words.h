// Words of a text, separated by white space.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

/// The index of the word that each token is part of, by its first byte that is not white space. -1 for a token that
/// covers no text or only white space.
std::vector<std::int32_t> words_of_tokens(std::string_view text, std::span<const Span> tokens);

/// The number of words in a text.
std::size_t count_words(std::string_view text);

}  // namespace attend
