// Training of WordPiece, as BERT uses it.
#pragma once
#include <cstdint>
#include <string>

#include "attend/core/progress.h"
#include "attend/text/special_texts.h"
#include "attend/text/training/word_counts.h"

namespace attend {

struct WordPieceTrainingOptions {
  std::int64_t vocab_size = 8000;      ///< tokens in all; fewer when the text has no more pairs to merge
  std::int64_t min_frequency = 2;      ///< a pair that is seen less often is not merged
  bool lowercase = true;               ///< the tokenizer takes text as lower case, and without accents
  std::int64_t limit_alphabet = 1000;  ///< keep so many characters, the most frequent; 0: all. The others are unknown
  std::string continuing_subword_prefix = "##";
  SpecialTexts special{
      .padding = "[PAD]", .unknown = "[UNK]", .classify = "[CLS]", .separator = "[SEP]", .mask = "[MASK]"};
};

/// lines -> tokenizer with BERT's clean-up and words. Pieces are found as Hugging Face's WordPieceTrainer finds them:
/// by merging the most frequent pair, not by likelihood. Progress and errors as train_bpe.
Tokenizer train_wordpiece(const LineSource& lines, const WordPieceTrainingOptions& options = {},
                          const Progress& progress = {});

}  // namespace attend
