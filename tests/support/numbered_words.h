// A tokenizer for models that come without one: "w0", "w1", …
#pragma once
#include <cstdint>
#include <string>

#include "attend/text/training/train_words.h"

namespace attend::test {

/// Of so many tokens.
inline Tokenizer numbered_words(std::int64_t count) {
  std::int64_t next = 0;
  return train_words(
      [&](std::string& line) {
        line.assign("w").append(std::to_string(next));
        return next++ < count;
      },
      {.vocab_size = count});
}

}  // namespace attend::test
