// Trains vocabularies without subwords, for small models: whole words, or single characters.
#pragma once
#include <cstdint>

#include "attend/text/special_texts.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct WordTrainingOptions {
  std::int64_t vocab_size = 30000;  ///< the most frequent words are kept, the others are unknown
  std::int64_t min_frequency = 0;   ///< rarer words are unknown
  bool lowercase = false;           ///< the tokenizer converts text to lower case
  bool append_eos = true;           ///< end each text with `eos`, as translation models need it
  SpecialTexts special{.padding = "<pad>", .unknown = "<unk>", .bos = "<s>", .eos = "</s>"};
};

/// lines -> tokenizer of words and punctuation marks. Ids are in the order of frequency; equally frequent words are
/// sorted by their bytes. Throws InputError if there is no text, or if no word is kept.
Tokenizer train_words(const LineSource& lines, const WordTrainingOptions& options = {});

/// lines -> tokenizer of characters (code points), in the order of code points, including spaces. The line end is
/// always in the vocabulary. Throws as train_words.
Tokenizer train_characters(const LineSource& lines, const WordTrainingOptions& options = {});

}  // namespace attend
