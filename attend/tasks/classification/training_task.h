// The training task of text classifiers of any architecture. train_classification()
// (attend/tasks/classification/training.h) makes a task from files.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "attend/data/example_store.h"
#include "attend/train/sampled_training_task.h"

namespace attend {

/// The fields of a stored text: its ids (never empty), the indices of its labels, and, for pairs of texts, the type of
/// each token (see Encoding).
enum TextField : std::uint8_t { kTextField, kLabelField, kTypeField };

/// The functions of a classifier that training needs.
struct TrainableClassifier {
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  /// texts int32 [B, T], types int32 [B, T] or undefined (all 0) -> [B, classes]
  std::function<Tensor(const TokenBatch& texts, const Tensor& types)> logits;
  SaveModel save;
};

struct ClassifierTrainingTaskOptions {
  std::int32_t padding = 0;
  std::int32_t unknown = -1;  ///< the id that replaces a dropped token; -1: no tokens are dropped
  std::vector<std::int32_t> never_dropped = {};
  float word_dropout = 0.f;  ///< the probability with which a token is replaced by `unknown` in training
  float label_smoothing = 0.f;
  /// Above 0, each text is encoded twice with different dropout. The divergence between both predictions, with this
  /// weight, is added to the loss (R-Drop, Liang et al. 2021).
  float consistency = 0.f;
  bool several_labels = false;  ///< multi-label classification: a text may have any number of labels
  bool types = false;           ///< the examples have token types
  /// The weight in the loss of the texts with each label; empty: all 1. Not for multi-label classification.
  std::vector<float> label_weights = {};
  BatchOptions batches = {};
};
/// Label weights with which every label contributes equally to the loss. Their mean over the texts is 1.
std::vector<float> balanced_weights(const ExampleStore& texts, std::size_t labels);

class ClassifierTrainingTask : public SampledTrainingTask {
 public:
  /// Throws InputError if there are no training texts.
  ClassifierTrainingTask(TrainableClassifier model, std::int64_t labels, ExampleStore training, ExampleStore validation,
                         ClassifierTrainingTaskOptions options);

  Loss next() override;
  /// "accuracy" (multi-label: the fraction of texts whose labels are all correct), "f1" (macro average) and "loss" on
  /// the validation texts.
  Scores evaluate() override;

 private:
  Tensor logits(const ExampleStore& texts, const TokenBatch& batch, std::span<const std::int64_t> chosen) const;

  TrainableClassifier model_;
  std::size_t labels_;
  ExampleStore training_, validation_;
  ClassifierTrainingTaskOptions options_;
};

}  // namespace attend
