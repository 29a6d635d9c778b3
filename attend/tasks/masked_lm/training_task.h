// The pre-training of BERT (Devlin et al. 2019, section 3.1): the model predicts masked tokens, and whether one text
// follows another. train_masked_lm() (attend/tasks/masked_lm/training.h) makes a task from files.
#pragma once
#include <string>
#include <vector>

#include "attend/models/bert.h"
#include "attend/tasks/masked_lm/examples.h"
#include "attend/train/sampled_training_task.h"

namespace attend {

struct PreTrainingOptions {
  MaskingOptions masking;
  BatchOptions batches = {};
};

class PreTrainingTask : public SampledTrainingTask {
 public:
  /// The model must have the head masked_lm or pre_training. Its parameters must be leaves of the tape. Throws
  /// InputError if there are no training examples.
  PreTrainingTask(const Bert& model, std::vector<NamedTensor> parameters, SaveModel save, PreTrainingExamples training,
                  PreTrainingExamples validation, PreTrainingOptions options);

  /// Masks new random tokens each time.
  Loss next() override;
  /// "loss": the sum of both losses; "word_loss" and "word_accuracy": of the masked tokens; "next_loss" and
  /// "next_accuracy": of next-sentence prediction, with the head pre_training. Every evaluation masks the same tokens.
  Scores evaluate() override;

 private:
  struct Batch {
    BertInput input;
    Tensor rows;     // int32 [M], the rows of the masked tokens
    Tensor targets;  // int32 [M], their original ids
    Tensor random;   // int32 [texts], 1 if the second text is from another document
  };
  Batch make_batch(const PreTrainingExamples& from, std::span<const std::int64_t> chosen, PhiloxKey key) const;
  bool next_sentence() const { return model_.options.head == BertHead::pre_training; }

  const Bert& model_;
  PreTrainingExamples training_, validation_;
  PreTrainingOptions options_;
};

}  // namespace attend
