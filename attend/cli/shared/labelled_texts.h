// What the verbs that learn labels share: texts with their labels from a file, and the flags of both.
#pragma once
#include <string>
#include <vector>

#include "attend/cli/shared/training.h"
#include "attend/tasks/classification/training.h"

namespace attend::cli {

struct LabelFlags {
  TrainingFlags training;
  std::string train, validation, text_column = "1", label_column;
  std::string pair_column, separator;  ///< of a second text, and of several labels; empty: there is but one
  std::int64_t batch = 32;
  float word_dropout = 0.f, label_smoothing = 0.f, consistency = 0.f;

  /// What of these concerns the training; the tokens' ids are the caller's to add.
  ClassifierTrainingOptions options() const;
};

/// --train, --validation and the columns, then how to learn from them, with the values in `flags` as defaults.
void add_label_data_flags(CLI::App& verb, LabelFlags& flags);
void add_label_learning_flags(CLI::App& verb, LabelFlags& flags);

struct Labelled {
  std::vector<std::string> texts, seconds;  ///< seconds: empty unless pairs
  std::vector<std::vector<std::string>> labels;
  std::string path;      ///< of their file
  bool several = false;  ///< labels may hold together
};
/// Empty lines are passed over. Throws InputError, with the line, where a column or the label is missing, and when
/// there is no text at all.
Labelled read_labelled(const LabelFlags& flags, const std::string& path);

/// All that occur, sorted. Throws InputError when there is nothing to tell apart.
std::vector<std::string> labels_of(const Labelled& data);
/// The places of each text's labels among those. Throws InputError for one that is not there; `path` is whose it is.
std::vector<std::vector<std::int32_t>> label_places(const Labelled& data, const std::vector<std::string>& labels,
                                                    const std::string& path);

}  // namespace attend::cli
