// The training task of translators of any architecture: batches of sentence pairs, teacher forcing, label smoothing.
// train_translation() (attend/tasks/translation/training.h) makes a task from files.
#pragma once
#include <functional>

#include "attend/data/example_store.h"
#include "attend/tasks/translation/trainable_translator.h"
#include "attend/train/sampled_training_task.h"

namespace attend {

/// The fields of a stored sentence pair. Targets end with the end-of-sentence token; so do sources if the model expects
/// it. The source field of an example with features is empty: the features are its source.
/// Examples with a pair to learn first (TranslationTrainingTaskOptions::first_epochs) have it in two more fields.
enum PairField : std::uint8_t {
  kSourceField,
  kTargetField,
  kPairFields,
  kFirstSourceField = kPairFields,
  kFirstTargetField
};

struct TranslationTrainingTaskOptions {
  std::int32_t padding = 0;
  float label_smoothing = 0.1f;
  float coverage = 0;             ///< weight of the coverage loss per target; needs a model with a pointer
  std::int64_t first_epochs = 0;  ///< in so many epochs, learn from kFirstSourceField and kFirstTargetField
  BatchOptions batches = {};
  std::function<Scores()> evaluate = {};  ///< scores besides the validation loss, such as BLEU
};

class TranslationTrainingTask : public SampledTrainingTask {
 public:
  /// Throws InputError if there are no training pairs.
  TranslationTrainingTask(const TrainableTranslator& model, ExampleStore training, ExampleStore validation,
                          TranslationTrainingTaskOptions options);

  Loss next() override;
  /// "loss" per token on the validation pairs, without label smoothing, if there are any; then the scores of
  /// TranslationTrainingTaskOptions::evaluate.
  Scores evaluate() override;

 private:
  struct Objective {
    float smoothing = 0, coverage = 0;
    bool first = false;  ///< learn from the first pair
  };
  Loss loss_of(const ExampleStore& pairs, std::span<const std::int64_t> chosen, const Objective& objective) const;

  TrainableTranslator model_;
  ExampleStore training_, validation_;
  TranslationTrainingTaskOptions options_;
};

}  // namespace attend
