// How often each word stands in a text: what the trainers of subword models look at. The text is a stream of lines, of
// which only the different words are kept.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attend/text/normalizer.h"
#include "attend/text/pre_tokenizer.h"

namespace attend {

/// Gives the next line of a text, without its end, or false when there is none.
using LineSource = std::function<bool(std::string& line)>;

struct WordCount {
  std::string word;
  std::int64_t count = 0;
  bool operator==(const WordCount&) const = default;
};

/// Cuts lines into words as a tokenizer with these parts does, on all threads. Sorted by the words' bytes, so that the
/// order depends on the text alone; with a last step ByteLevel the words are in letters of its alphabet. Invalid UTF-8
/// counts as U+FFFD.
std::vector<WordCount> count_words(const LineSource& lines, const Normalizer& normalizer,
                                   const PreTokenizer& pre_tokenizer);

}  // namespace attend
