// Words of a text as people count them: what stands between white space.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

/// The word that each token is part of, counted from 0: that of its first byte which is no white space. -1 for a token
/// that stands for no text, or for white space only.
std::vector<std::int32_t> words_of_tokens(std::string_view text, std::span<const Span> tokens);

/// How many words a text has.
std::size_t count_words(std::string_view text);

}  // namespace attend
