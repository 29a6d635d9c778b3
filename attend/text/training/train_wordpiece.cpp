#include "attend/text/training/train_wordpiece.h"

#include <utility>

#include "attend/text/training/merge_training.h"

namespace attend {

Tokenizer train_wordpiece(const LineSource& lines, const WordPieceTrainingOptions& options, const Progress& progress) {
  Tokenizer::Parts parts;
  parts.normalizer.emplace_back(normalizer::Bert{.strip_accents = std::nullopt, .lowercase = options.lowercase});
  parts.pre_tokenizer.emplace_back(pre_tokenizer::Bert{});
  parts.decoder.emplace_back(decoder::WordPiece{.prefix = options.continuing_subword_prefix});

  const std::vector<WordCount> words = count_words(lines, parts.normalizer, parts.pre_tokenizer);
  const TrainedMerges trained = train_merges(words,
                                             {.vocab_size = options.vocab_size,
                                              .min_frequency = options.min_frequency,
                                              .limit_alphabet = options.limit_alphabet,
                                              .continuing_subword_prefix = options.continuing_subword_prefix,
                                              .special_tokens = options.special.all()},
                                             progress);
  parts.model =
      WordPiece(vocabulary_of(options.special, trained.tokens),
                {.unk_token = options.special.unknown, .continuing_subword_prefix = options.continuing_subword_prefix});
  set_special(parts, options.special, false);
  return Tokenizer(std::move(parts));
}

}  // namespace attend
