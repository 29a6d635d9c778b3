// Trains byte-pair encoding: byte-level as in GPT-2, or on characters.
#pragma once
#include <cstdint>

#include "attend/core/progress.h"
#include "attend/text/special_texts.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct BpeTrainingOptions {
  std::int64_t vocab_size = 8000;   ///< largest size of the vocabulary; smaller if there are no more pairs to merge
  std::int64_t min_frequency = 2;   ///< rarer pairs are not merged
  bool byte_level = true;           ///< the alphabet is all bytes, so no text is unknown; false: characters
  bool add_prefix_space = false;    ///< add a space before the first word of a text: " hello"
  bool lowercase = false;           ///< the tokenizer converts text to lower case
  std::int64_t limit_alphabet = 0;  ///< characters: keep only the N most frequent, the others are unknown; 0: keep all
  bool append_eos = false;          ///< end each text with `eos`, as translation models need it
  SpecialTexts special{.unknown = "<|endoftext|>", .bos = "<|endoftext|>", .eos = "<|endoftext|>"};
};

/// lines -> tokenizer. It equals the result of Hugging Face's BpeTrainer with these options. Without byte_level, a
/// space is "▁" and belongs to the word after it, and a line end is also a character. Progress counts tokens. Throws
/// InputError if vocab_size is smaller than the alphabet, or if there is no text.
Tokenizer train_bpe(const LineSource& lines, const BpeTrainingOptions& options = {}, const Progress& progress = {});

}  // namespace attend
