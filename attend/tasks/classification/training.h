// Training of classifiers of texts, whatever their architecture.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attend/train/sampled_trainee.h"

namespace attend {

/// Texts as ids, each with the places of its labels in the list of labels. No text may be empty.
struct LabelledTexts {
  std::vector<std::vector<std::int32_t>> texts;
  std::vector<std::vector<std::int32_t>> labels;      ///< one each, unless several may hold
  std::vector<std::vector<std::int32_t>> types = {};  ///< of each token (see Encoding); empty: all 0
  std::int64_t size() const { return static_cast<std::int64_t>(texts.size()); }
};

/// What a classifier is to its training.
struct ClassifierModel {
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  /// -> [B, classes].  types int32 [B, T], or undefined: all 0
  std::function<Tensor(const TokenBatch& texts, const Tensor& types)> logits;
  SaveModel save;
};

struct ClassifierTrainingOptions {
  std::int32_t padding = 0;
  std::int32_t unknown = -1;  ///< what a dropped word becomes; -1: words are not dropped
  std::vector<std::int32_t> never_dropped = {};
  float word_dropout = 0.f;  ///< the share of words that are hidden in training, so that no single one decides
  float label_smoothing = 0.f;
  /// Above 0, each text is read twice, with other words and units dropped, and this weighs how far the two answers are
  /// apart (R-Drop, Liang and others 2021).
  float consistency = 0.f;
  bool several_labels = false;  ///< each label holds or not, by itself
  /// What each label's texts count for in the loss, so that rare ones are not drowned; empty: all alike. Not with
  /// several labels.
  std::vector<float> label_weights = {};
  BatchOptions batches = {};
};
/// Weights that give every label the same share of the loss, 1 on average over the texts.
std::vector<float> balanced_weights(const LabelledTexts& texts, std::size_t labels);

class ClassifierTrainee : public SampledTrainee {
 public:
  /// Throws InputError when there are no texts to train on.
  ClassifierTrainee(ClassifierModel model, std::vector<std::string> labels, LabelledTexts training,
                    LabelledTexts validation, const ClassifierTrainingOptions& options);

  Loss next() override;
  /// "accuracy" (of several labels: all of them), "f1" (macro), "loss", on the validation texts; nothing when there are
  /// none.
  Scores judge() override;

 private:
  Tensor logits(const LabelledTexts& texts, const TokenBatch& batch, std::span<const std::int64_t> chosen) const;

  ClassifierModel model_;
  std::vector<std::string> labels_;
  LabelledTexts training_, validation_;
  ClassifierTrainingOptions options_;
};

}  // namespace attend
