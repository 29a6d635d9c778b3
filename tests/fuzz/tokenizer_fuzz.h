// What the fuzzers do with a tokenizer once they have one: everything that a reader's mistake could break.
#pragma once
#include <string>
#include <string_view>

#include "attend/core/error.h"
#include "attend/text/tokenizer.h"
#include "attend/text/tokenizer_parts.h"

namespace attend::fuzz {

inline void use(const Tokenizer& tokenizer) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {""sv, " a  b\tab abc [MASK]x</s>"sv, "It's caf\u00e9 cafe\u0301 \u6771\u4eac \U0001F44D\u200d 1984\xff\xc3"sv,
        ">>fr<< \u2581a\0b"sv, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"sv}) {
    try {
      const Encoding encoding = tokenizer.encode(text, {.max_tokens = 16, .long_text = LongText::truncate});
      tokenizer.ids(text);
      tokenizer.decode(encoding.ids);
      tokenizer.decode(encoding.ids, false);
      tokenizer.encode_pair(text, "ab b");
    } catch (const Error&) {
    }
  }
}

}  // namespace attend::fuzz
