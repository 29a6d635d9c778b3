// The flags that `attend train classifier` and `attend finetune classifier` share.
#pragma once
#include "attend/cli/shared/training.h"
#include "attend/tasks/classification/training.h"

namespace attend::cli {

struct LabelFlags {
  TrainingFlags training;
  ClassificationTrainingOptions options;
};

/// --train, --validation and --text-column.
void add_label_data_flags(Verb& verb, ClassificationTrainingOptions& options);
/// The flags of training, with the options' values as defaults.
void add_label_learning_flags(Verb& verb, LabelFlags& flags);

/// Checks the flags and trains.
void train_labels(LabelFlags& flags, const std::string& title);

}  // namespace attend::cli
