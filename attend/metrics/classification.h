// How often predicted labels are right: accuracy, precision, recall and F1 for each label, and their averages.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attend {

/// One label against all others. A ratio of nothing to nothing is 0.
struct LabelScore {
  std::string label;
  std::int64_t expected = 0;   ///< how often it is the reference
  std::int64_t predicted = 0;  ///< how often it is the prediction
  std::int64_t correct = 0;    ///< how often it is both

  double precision() const;  ///< correct / predicted
  double recall() const;     ///< correct / expected
  double f1() const;         ///< 2 · correct / (expected + predicted): their harmonic mean
};

struct ClassificationScores {
  std::vector<LabelScore> labels;                    ///< all that were expected or predicted, sorted by name
  std::vector<std::vector<std::int64_t>> confusion;  ///< [expected][predicted], in the order of labels
  std::int64_t total = 0, correct = 0;

  double accuracy() const;
  double macro_f1() const;  ///< the mean over labels: a rare label counts as much as a frequent one
  /// From the counts of all labels together. Where each text has one label, as here, it equals the accuracy.
  double micro_f1() const;
};

/// Throws InputError when there are not as many predictions as references.
ClassificationScores classification_scores(std::span<const std::string> predictions,
                                           std::span<const std::string> references);

}  // namespace attend
