// Training of byte-pair encoding: byte-level as GPT-2's, or of characters.
#pragma once
#include <cstdint>

#include "attend/core/progress.h"
#include "attend/text/special_texts.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct BpeTrainingOptions {
  std::int64_t vocab_size = 8000;   ///< tokens in all; fewer when the text has no more pairs to merge
  std::int64_t min_frequency = 2;   ///< a pair that is seen less often is not merged
  bool byte_level = true;           ///< bytes are the alphabet, so that any text can be written; false: characters
  bool add_prefix_space = false;    ///< the first word of a text is written as those inside: " hello"
  bool lowercase = false;           ///< the tokenizer takes text as lower case
  std::int64_t limit_alphabet = 0;  ///< of characters, keep the most frequent; 0: all. The others are unknown
  bool append_eos = false;          ///< an encoded text ends with `eos`, as translation models want it
  SpecialTexts special{.unknown = "<|endoftext|>", .bos = "<|endoftext|>", .eos = "<|endoftext|>"};
};

/// lines -> tokenizer, the same as Hugging Face's BpeTrainer gives for these options. Of characters: spaces are "▁" and
/// belong to the word after them, and a line end is a character too. Progress counts tokens. Throws InputError where
/// vocab_size leaves no room for the alphabet, and where there is no text.
Tokenizer train_bpe(const LineSource& lines, const BpeTrainingOptions& options = {}, const Progress& progress = {});

}  // namespace attend
