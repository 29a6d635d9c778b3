// A tokenizer with the tokens "w0", "w1", …, for models that have none.
#pragma once
#include <cstdint>
#include <string>

#include "attend/text/training/train_words.h"

namespace attend::test {

/// `count` is the size of the vocabulary.
inline Tokenizer numbered_words(std::int64_t count) {
  std::int64_t next = 0;
  return train_words(
      [&](std::string& line) {
        line = std::to_string(next);
        line.insert(line.begin(), 'w');
        return next++ < count;
      },
      {.vocab_size = count});
}

}  // namespace attend::test
