// The subword models, which split a word into tokens of a vocabulary. Each has the same three functions:
//   const Vocabulary& vocabulary() const;
//   const …Options& options() const;                                        // except SentencePiece, which has none
//   void encode(std::string_view word, std::vector<Piece>& pieces) const;   // appends; the word is valid UTF-8
// All are immutable and safe to use from many threads.
#pragma once
#include <variant>

#include "attend/text/bpe.h"
#include "attend/text/sentencepiece.h"
#include "attend/text/unigram.h"
#include "attend/text/word_level.h"
#include "attend/text/wordpiece.h"

namespace attend {

using SubwordModel = std::variant<Bpe, WordPiece, Unigram, WordLevel, SentencePiece>;

inline const Vocabulary& vocabulary(const SubwordModel& model) {
  return std::visit([](const auto& m) -> const Vocabulary& { return m.vocabulary(); }, model);
}

}  // namespace attend
