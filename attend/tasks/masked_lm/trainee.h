// The pre-training of BERT (Devlin et al. 2019, section 3.1): predict the masked tokens, and whether one text follows
// another. train_masked_lm() (attend/tasks/masked_lm/training.h) makes one from files.
#pragma once
#include <string>
#include <vector>

#include "attend/models/bert.h"
#include "attend/tasks/masked_lm/examples.h"
#include "attend/train/sampled_trainee.h"

namespace attend {

struct PreTrainingOptions {
  MaskingOptions masking;
  BatchOptions batches = {};
};

class PreTrainee : public SampledTrainee {
 public:
  /// The model has a head for masked tokens, or for pre-training; its parameters are leaves of the tape. Throws
  /// InputError when there are no examples to train on.
  PreTrainee(const Bert& model, std::vector<NamedTensor> parameters, SaveModel save, PreTrainingExamples training,
             PreTrainingExamples validation, PreTrainingOptions options);

  /// Other tokens are masked each time.
  Loss next() override;
  /// "loss", of both tasks together; "word_loss" and "word_accuracy" of masked tokens; with next sentences "next_loss"
  /// and "next_accuracy". The same tokens are masked each time.
  Scores evaluate() override;

 private:
  struct Batch {
    BertInput input;
    Tensor rows, words, random;
  };
  Batch make_batch(const PreTrainingExamples& from, std::span<const std::int64_t> chosen, PhiloxKey key) const;
  bool next_sentence() const { return model_.options.head == BertHead::pre_training; }

  const Bert& model_;
  PreTrainingExamples training_, validation_;
  PreTrainingOptions options_;
};

}  // namespace attend
