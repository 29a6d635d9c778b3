// Training of classifiers of texts, whatever their architecture.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "attend/train/sampled_trainee.h"

namespace attend {

/// Texts as ids, each with the place of its label in the list of labels. No text may be empty.
struct LabelledTexts {
  std::vector<std::vector<std::int32_t>> texts;
  std::vector<std::int32_t> labels;
  std::int64_t size() const { return static_cast<std::int64_t>(texts.size()); }
};

/// What a classifier is to its training.
struct ClassifierModel {
  std::vector<NamedTensor> parameters;                    ///< leaves of the tape
  std::function<Tensor(const TokenBatch& texts)> logits;  ///< -> [B, classes]
  SaveModel save;
};

struct ClassifierTrainingOptions {
  std::int32_t padding = 0;
  std::int32_t unknown = -1;  ///< what a dropped word becomes; -1: words are not dropped
  float word_dropout = 0.f;   ///< the share of words that are hidden in training, so that no single one decides
  float label_smoothing = 0.f;
  BatchOptions batches = {};
};

class ClassifierTrainee : public SampledTrainee {
 public:
  /// Throws InputError when there are no texts to train on.
  ClassifierTrainee(ClassifierModel model, std::vector<std::string> labels, LabelledTexts training,
                    LabelledTexts validation, const ClassifierTrainingOptions& options);

  Loss next() override;
  /// "accuracy", "f1" (macro), "loss", on the validation texts; nothing when there are none.
  Scores judge() override;

 private:
  ClassifierModel model_;
  std::vector<std::string> labels_;
  LabelledTexts training_, validation_;
  ClassifierTrainingOptions options_;
};

}  // namespace attend
