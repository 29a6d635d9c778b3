// Trains unigram (Kudo 2018) and BPE models with the SentencePiece library. Text is split only at spaces. A space
// belongs to the word after it, so decoding restores the text.
#pragma once
#include <cstdint>
#include <string>

#include "attend/text/special_texts.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct SentencePieceTrainingOptions {
  bool unigram = true;                 ///< false: BPE
  std::int64_t vocab_size = 8000;      ///< largest size of the vocabulary; smaller for a small text
  bool lowercase = false;              ///< the tokenizer converts text to lower case
  double character_coverage = 0.9995;  ///< fraction of the text's characters to cover; rarer characters are unknown
  bool byte_fallback = false;          ///< an unknown character becomes its bytes
  bool append_eos = true;              ///< end each text with `eos`
  std::int64_t max_lines = 0;          ///< learn from a random sample of this many lines; 0: from all of them
  SpecialTexts special{.padding = "<pad>", .unknown = "<unk>", .eos = "</s>"};
};

/// lines -> the bytes of a model file (.spm, spiece.model). The result does not depend on the number of threads. The
/// library keeps all lines (at most max_lines) in memory, cannot be stopped, and reports no progress. Throws InputError
/// with the library's message if it fails.
std::string train_sentencepiece_file(const LineSource& lines, const SentencePieceTrainingOptions& options = {});

/// lines -> tokenizer, which is saved as one tokenizer.json.
Tokenizer train_sentencepiece(const LineSource& lines, const SentencePieceTrainingOptions& options = {});

/// The tokenizer of a Marian translation model: a model of vocab_size for each language, and one vocabulary for both:
/// </s>, <unk>, the tokens of source and target, <pad>. Special tokens in the options are ignored.
Tokenizer train_sentencepiece_pair(const LineSource& source, const LineSource& target,
                                   const SentencePieceTrainingOptions& options = {});

}  // namespace attend
