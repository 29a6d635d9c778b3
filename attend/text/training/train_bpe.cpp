#include "attend/text/training/train_bpe.h"

#include <utility>

#include "attend/core/error.h"
#include "attend/text/byte_level.h"
#include "attend/text/training/merge_training.h"

namespace attend {

Tokenizer train_bpe(const LineSource& lines, const BpeTrainingOptions& options, const Progress& progress) {
  Tokenizer::Parts parts;
  if (options.lowercase) parts.normalizer.emplace_back(normalizer::Lowercase{});
  if (options.byte_level) {
    parts.pre_tokenizer.emplace_back(pre_tokenizer::ByteLevel{.add_prefix_space = options.add_prefix_space});
    parts.post_processor.emplace_back(post_processor::ByteLevel{.trim_offsets = false});
    parts.decoder.emplace_back(decoder::ByteLevel{});
  } else {
    parts.pre_tokenizer.emplace_back(pre_tokenizer::Metaspace{});
    parts.decoder.emplace_back(decoder::Metaspace{});
  }

  MergeOptions merging{.vocab_size = options.vocab_size,
                       .min_frequency = options.min_frequency,
                       .limit_alphabet = options.limit_alphabet,
                       .special_tokens = options.special.all()};
  if (options.byte_level) {
    merging.limit_alphabet = 0;
    merging.initial_alphabet.assign(byte_letters().begin(), byte_letters().end());
  } else {
    merging.initial_alphabet = U"\n";
  }
  const std::vector<WordCount> words = count_words(lines, parts.normalizer, parts.pre_tokenizer);
  TrainedMerges trained = train_merges(words, merging, progress);
  BpeOptions model;
  if (!options.byte_level && !options.special.unknown.empty()) model.unk_token = options.special.unknown;
  parts.model = Bpe(vocabulary_of(options.special, trained.tokens), std::move(trained.merges), std::move(model));
  set_special(parts, options.special, options.append_eos);
  return Tokenizer(std::move(parts));
}

}  // namespace attend
