// Training of translators, whatever their architecture: batches of sentence pairs, teacher forcing, label smoothing.
#pragma once
#include <functional>
#include <vector>

#include "attend/train/sampled_trainee.h"

namespace attend {

/// Sentence pairs as ids. Targets end with the end of sentence; sources do too if the model wants it.
struct EncodedPairs {
  std::vector<std::vector<std::int32_t>> sources, targets;
  std::int64_t size() const { return static_cast<std::int64_t>(sources.size()); }
};

/// What a translator is to its training.
struct TranslationTask {
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  /// What the model says after each word.   sources, words int32 [B, T] with their lengths -> logits [B, T, V]
  std::function<Tensor(const TokenBatch& sources, const TokenBatch& words)> logits;
  SaveModel save;
  std::function<Scores()> judge = {};  ///< further scores beside the validation loss: BLEU, say
};

struct TranslationOptions {
  std::int32_t padding = 0;
  std::int32_t start = 0;  ///< stands before the first word of a target
  float label_smoothing = 0.1f;
  BatchOptions batches = {};
};

class TranslationTrainee : public SampledTrainee {
 public:
  /// Throws InputError when there are no pairs to train on.
  TranslationTrainee(TranslationTask model, EncodedPairs training, EncodedPairs validation,
                     const TranslationOptions& options);

  Loss next() override;
  /// "loss" per word without smoothing, on the validation pairs (if there are any), then what the model adds.
  Scores judge() override;

 private:
  Loss loss_of(const EncodedPairs& pairs, std::span<const std::int64_t> chosen, float smoothing) const;

  TranslationTask model_;
  EncodedPairs training_, validation_;
  TranslationOptions options_;
};

}  // namespace attend
