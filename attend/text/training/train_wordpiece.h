// Trains WordPiece, as BERT uses it.
#pragma once
#include <cstdint>
#include <string>

#include "attend/core/progress.h"
#include "attend/text/special_texts.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct WordPieceTrainingOptions {
  std::int64_t vocab_size = 8000;  ///< largest size of the vocabulary; smaller if there are no more pairs to merge
  std::int64_t min_frequency = 2;  ///< rarer pairs are not merged
  bool lowercase = true;           ///< the tokenizer converts text to lower case and removes accents
  std::int64_t limit_alphabet =
      1000;  ///< keep only the N most frequent characters, the others are unknown; 0: keep all
  std::string continuing_subword_prefix = "##";
  SpecialTexts special{
      .padding = "[PAD]", .unknown = "[UNK]", .classify = "[CLS]", .separator = "[SEP]", .mask = "[MASK]"};
};

/// lines -> tokenizer with BERT's normalizer and pre-tokenizer. Tokens are learned as by Hugging Face's
/// WordPieceTrainer: by merging the most frequent pair, not by likelihood. Progress and errors are those of train_bpe.
Tokenizer train_wordpiece(const LineSource& lines, const WordPieceTrainingOptions& options = {},
                          const Progress& progress = {});

}  // namespace attend
