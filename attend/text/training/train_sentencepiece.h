// Training with SentencePiece's library: unigram models (Kudo 2018) and its kind of BPE. Text is not cut into words
// first but at spaces, which belong to the word after them, so that decoding gives the text back.
#pragma once
#include <cstdint>
#include <string>

#include "attend/text/special_texts.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct SentencePieceTrainingOptions {
  bool unigram = true;                 ///< false: BPE
  std::int64_t vocab_size = 8000;      ///< pieces in all; fewer when the text has no more
  bool lowercase = false;              ///< the tokenizer takes text as lower case
  double character_coverage = 0.9995;  ///< the share of the text's characters that are kept; the rare rest is unknown
  bool byte_fallback = false;          ///< an unknown character is its bytes instead
  bool append_eos = true;              ///< an encoded text ends with `eos`
  std::int64_t max_lines = 0;          ///< learn from a random sample of this many lines; 0: from all of them
  SpecialTexts special{.padding = "<pad>", .unknown = "<unk>", .eos = "</s>"};
};

/// lines -> a model file (.spm, spiece.model). Deterministic whatever the number of threads. The library keeps all
/// lines (max_lines at most) in memory, cannot be stopped, and tells no progress. Throws InputError with its message
/// where it refuses.
std::string train_sentencepiece_file(const LineSource& lines, const SentencePieceTrainingOptions& options = {});

/// lines -> tokenizer whose folder is one tokenizer.json.
Tokenizer train_sentencepiece(const LineSource& lines, const SentencePieceTrainingOptions& options = {});

/// A translation model's tokenizer in Marian's layout: a model of vocab_size for each side, and one vocabulary of both:
/// </s>, <unk>, the pieces of source and target, <pad>. The special tokens are these, whatever the options say.
Tokenizer train_sentencepiece_pair(const LineSource& source, const LineSource& target,
                                   const SentencePieceTrainingOptions& options = {});

}  // namespace attend
