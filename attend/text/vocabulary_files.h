// Reads and writes vocab.txt (one token on each line) and merges.txt (one merge on each line, in the order of
// training).
#pragma once
#include <string>
#include <string_view>

#include "attend/text/bpe.h"
#include "attend/text/vocabulary.h"

namespace attend {

/// The id of a token is the number of its line, from 0. Throws InputError if a line is not valid UTF-8. `file` is used
/// in messages.
Vocabulary read_vocab_txt(std::string_view text, const std::string& file);
/// An unused id becomes a line "[unused…]".
std::string write_vocab_txt(const Vocabulary& vocabulary);

/// Each line is "left right"; the first line may be a comment that begins with #version. Throws InputError with the
/// line if it does not have two tokens, or if one is not in the vocabulary.
Bpe read_merges(std::string_view text, const std::string& file, Vocabulary vocabulary);
std::string write_merges(const Bpe& bpe);

}  // namespace attend
