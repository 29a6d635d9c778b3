// The tokens of a text as a view of attention has them.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "attend/attention/map.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// `spans` say where in the text each of the ids stands, and so to which word it belongs.
AttentionTokens attention_tokens(const Tokenizer& tokenizer, std::span<const std::int32_t> ids, std::string_view text,
                                 std::span<const Span> spans);

/// Where in its text each token stands that a model said: what the text grows by when it is decoded.
std::vector<Span> spans_of(const Tokenizer& tokenizer, std::span<const std::int32_t> ids);

}  // namespace attend
