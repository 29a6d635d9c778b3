// The plain files of vocabularies: vocab.txt, one token a line, and merges.txt, one merge a line, most frequent first.
#pragma once
#include <string>
#include <string_view>

#include "attend/text/bpe.h"
#include "attend/text/vocabulary.h"

namespace attend {

/// The line's number, from 0, is the token's id. Throws InputError where a line is no UTF-8. `file` is for messages.
Vocabulary read_vocab_txt(std::string_view text, const std::string& file);
/// Ids that no token has become "[unused…]" lines.
std::string write_vocab_txt(const Vocabulary& vocabulary);

/// "left right" lines; the first may be a comment that begins with #version. Throws InputError, naming the line, where
/// a line has not two tokens, or one that is not in the vocabulary.
Bpe read_merges(std::string_view text, const std::string& file, Vocabulary vocabulary);
std::string write_merges(const Bpe& bpe);

}  // namespace attend
