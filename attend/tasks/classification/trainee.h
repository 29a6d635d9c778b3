// The training of text classifiers, whatever their architecture. train_classification()
// (attend/tasks/classification/training.h) makes one from files.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "attend/data/example_store.h"
#include "attend/train/sampled_trainee.h"

namespace attend {

/// The fields of a stored text: its ids (never empty), its labels as places in the list of labels, and, for pairs of
/// texts, the type of each token (see Encoding).
enum TextField : std::uint8_t { kTextField, kLabelField, kTypeField };

/// A classifier as training needs it.
struct TrainableClassifier {
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  /// -> [B, classes].  types int32 [B, T], or undefined: all 0
  std::function<Tensor(const TokenBatch& texts, const Tensor& types)> logits;
  SaveModel save;
};

struct ClassifierTraineeOptions {
  std::int32_t padding = 0;
  std::int32_t unknown = -1;  ///< replaces a dropped token; -1: tokens are not dropped
  std::vector<std::int32_t> never_dropped = {};
  float word_dropout = 0.f;  ///< fraction of tokens that are replaced in training, so that no single one decides
  float label_smoothing = 0.f;
  /// Above 0, each text is encoded twice, with different dropout, and this is the weight of the divergence between both
  /// predictions (R-Drop, Liang et al. 2021).
  float consistency = 0.f;
  bool several_labels = false;  ///< a text may have any number of labels
  bool types = false;           ///< the examples have types of tokens
  /// The weight of each label's texts in the loss; empty: 1. Not with several labels.
  std::vector<float> label_weights = {};
  BatchOptions batches = {};
};
/// Weights that give every label the same fraction of the loss, 1 on average over the texts.
std::vector<float> balanced_weights(const ExampleStore& texts, std::size_t labels);

class ClassifierTrainee : public SampledTrainee {
 public:
  /// Throws InputError when there are no texts to train on.
  ClassifierTrainee(TrainableClassifier model, std::int64_t labels, ExampleStore training, ExampleStore validation,
                    ClassifierTraineeOptions options);

  Loss next() override;
  /// "accuracy" (with several labels: all of a text are right), "f1" (macro) and "loss" on the validation texts.
  Scores evaluate() override;

 private:
  Tensor logits(const ExampleStore& texts, const TokenBatch& batch, std::span<const std::int64_t> chosen) const;

  TrainableClassifier model_;
  std::size_t labels_;
  ExampleStore training_, validation_;
  ClassifierTraineeOptions options_;
};

}  // namespace attend
