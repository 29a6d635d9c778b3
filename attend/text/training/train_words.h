// Vocabularies without subwords, for small models: whole words, or single characters.
#pragma once
#include <cstdint>

#include "attend/text/special_texts.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct WordTrainingOptions {
  std::int64_t vocab_size = 30000;  ///< the most frequent are kept, the others are unknown
  std::int64_t min_frequency = 0;   ///< what is seen less often is unknown
  bool lowercase = false;           ///< the tokenizer takes text as lower case
  bool append_eos = true;           ///< an encoded text ends with `eos`, as translation models want it
  SpecialTexts special{.padding = "<pad>", .unknown = "<unk>", .bos = "<s>", .eos = "</s>"};
};

/// lines -> tokenizer of words and punctuation marks, the most frequent first, among equals by their bytes. Throws
/// InputError where there is no text, or nothing in it is kept.
Tokenizer train_words(const LineSource& lines, const WordTrainingOptions& options = {});

/// lines -> tokenizer of characters (code points), in the order of their code points. Spaces count, and a line end is
/// always one of them, though no line has it. Throws as train_words.
Tokenizer train_characters(const LineSource& lines, const WordTrainingOptions& options = {});

}  // namespace attend
