// The training of translators, whatever their architecture: batches of sentence pairs, teacher forcing, label
// smoothing. train_translation() (attend/tasks/translation/training.h) makes one from files.
#pragma once
#include <functional>

#include "attend/data/example_store.h"
#include "attend/tasks/translation/trainable_translator.h"
#include "attend/train/sampled_trainee.h"

namespace attend {

/// The fields of a stored sentence pair. Targets end with the end of sentence; sources do too if the model expects it.
/// Examples with features have these in place of the source, whose field is then empty.
enum PairField : std::uint8_t { kSourceField, kTargetField, kPairFields };

struct TranslationTraineeOptions {
  std::int32_t padding = 0;
  float label_smoothing = 0.1f;
  BatchOptions batches = {};
  std::function<Scores()> evaluate = {};  ///< further scores beside the validation loss: BLEU
};

class TranslationTrainee : public SampledTrainee {
 public:
  /// Throws InputError when there are no pairs to train on.
  TranslationTrainee(const TrainableTranslator& model, ExampleStore training, ExampleStore validation,
                     TranslationTraineeOptions options);

  Loss next() override;
  /// "loss" per token without smoothing, on the validation pairs (if there are any), then the further scores.
  Scores evaluate() override;

 private:
  Loss loss_of(const ExampleStore& pairs, std::span<const std::int64_t> chosen, float smoothing) const;

  TrainableTranslator model_;
  ExampleStore training_, validation_;
  TranslationTraineeOptions options_;
};

}  // namespace attend
