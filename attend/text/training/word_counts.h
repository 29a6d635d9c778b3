// Counts the words of a text, for the trainers of subword models. The text is a stream of lines, and only the different
// words are kept in memory.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attend/text/normalizer.h"
#include "attend/text/pre_tokenizer.h"

namespace attend {

/// Reads the next line of a text, without its line end. Returns false at the end.
using LineSource = std::function<bool(std::string& line)>;

struct WordCount {
  std::string word;
  std::int64_t count = 0;
  bool operator==(const WordCount&) const = default;
};

/// Splits lines into words as a tokenizer with these parts does, on all threads, and counts the words. The result is
/// sorted by the bytes of the words. After a final ByteLevel step, words consist of letters of the byte alphabet.
/// Invalid UTF-8 counts as U+FFFD.
std::vector<WordCount> count_words(const LineSource& lines, const Normalizer& normalizer,
                                   const PreTokenizer& pre_tokenizer);

}  // namespace attend
