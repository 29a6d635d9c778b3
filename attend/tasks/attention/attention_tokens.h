// Makes the tokens of an AttentionView from token ids.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "attend/attention/map.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// `spans` are the byte ranges of the ids in the text; they decide which tokens belong to one word.
AttentionTokens attention_tokens(const Tokenizer& tokenizer, std::span<const std::int32_t> ids, std::string_view text,
                                 std::span<const Span> spans);

/// The byte range of each generated token in the decoded text. A range is what the token appends to the text; it is
/// empty if the token completes no character.
std::vector<Span> spans_of(const Tokenizer& tokenizer, std::span<const std::int32_t> ids);

}  // namespace attend
