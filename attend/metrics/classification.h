// Evaluation of predicted labels: accuracy, and precision, recall and F1 of each label and on average.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attend {

/// The scores of one label. A ratio is 0 if its denominator is 0.
struct LabelScore {
  std::string label;
  std::int64_t expected = 0;   ///< number of times in the references
  std::int64_t predicted = 0;  ///< number of times in the predictions
  std::int64_t correct = 0;    ///< number of correct predictions of this label

  double precision() const;  ///< correct / predicted
  double recall() const;     ///< correct / expected
  double f1() const;         ///< 2 · correct / (expected + predicted), the harmonic mean of both
};

struct ClassificationScores {
  std::vector<LabelScore> labels;                    ///< all labels of references and predictions, sorted by name
  std::vector<std::vector<std::int64_t>> confusion;  ///< [expected][predicted], in the order of `labels`
  std::int64_t total = 0, correct = 0;

  double accuracy() const;
  double macro_f1() const;  ///< the mean of the F1 of all labels, independent of their frequency
  /// The F1 of the total counts of all labels. It is equal to the accuracy, because each text has exactly one label.
  double micro_f1() const;
};

/// Throws InputError if the numbers of predictions and references differ.
ClassificationScores classification_scores(std::span<const std::string> predictions,
                                           std::span<const std::string> references);

}  // namespace attend
