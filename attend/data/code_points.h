// A loop over the code points of a text, fast for ASCII.
#pragma once
#include <cstddef>
#include <string_view>

#include "attend/text/unicode.h"

namespace attend {

/// Calls f(code point, its bytes) for each code point. Invalid bytes are given as U+FFFD.
template <typename F>
void for_each_code_point(std::string_view text, F f) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const CodePoint c = byte < 0x80 ? CodePoint{byte, 1, true} : decode_utf8(text, at);
    f(c.value, text.substr(at, static_cast<std::size_t>(c.size)));
    at += static_cast<std::size_t>(c.size);
  }
}

}  // namespace attend
