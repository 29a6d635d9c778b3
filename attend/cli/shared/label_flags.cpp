#include "attend/cli/shared/label_flags.h"

#include "attend/cli/shared/numbers.h"

namespace attend::cli {

void add_label_data_flags(Verb& verb, ClassificationTrainingOptions& options) {
  add_path_flag(verb, "--train", options.train, "Training data: text, tab, label on each line")->required();
  add_path_flag(verb, "--validation", options.validation,
                "Validation data in the same format; the model that scores best on it is kept");
  verb.add_option("--text-column", options.columns.text, "Column of the text: its number, or its name in the first row")
      ->type_name("C");
}

void add_label_learning_flags(Verb& verb, LabelFlags& flags) {
  ClassificationTrainingOptions& o = flags.options;
  const auto fraction = between(0.0, 0.99);
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type);
  };
  option("--batch", o.batch, "Largest number of texts in a batch", "N")->check(kPositive);
  option("--word-dropout", o.word_dropout, "Fraction of tokens to replace by the unknown or mask token in training",
         "P")
      ->check(fraction);
  option("--label-smoothing", o.label_smoothing, "Fraction of the target probability that is spread over all labels",
         "P")
      ->check(fraction);
  option("--consistency", o.consistency,
         "Weight of the divergence between two predictions of a text with different dropout (R-Drop); 0 encodes each "
         "text once",
         "WEIGHT")
      ->check(kNotNegative);
  add_training_flags(verb, flags.training, o.trainer, o.batch_tokens, {"accuracy", "f1", "loss"});
}

void train_labels(LabelFlags& flags, const std::string& title) {
  check_validation(flags.training, !flags.options.validation.empty());
  run_training(flags.training, title,
               [&](const TrainingObserver& observer) { return train_classification(flags.options, observer); });
}

}  // namespace attend::cli
