#include "attend/cli/shared/answer_flags.h"

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/numbers.h"
#include "attend/metrics/answers.h"

namespace attend::cli {

void add_answer_language_flag(Verb& verb, std::string& language) {
  verb.add_option("--language", language,
                  "Language of the answers. Its articles do not count when answers are compared: de, en, es, fr, it; "
                  "ja and zh are compared by characters; other: no articles")
      ->type_name("CODE")
      ->check(is_one_of(answer_languages()));
}

void add_answer_window_flags(Verb& verb, SpanWindowOptions& options, const char* window) {
  verb.add_option(
          "--max-tokens", options.max_tokens,
          "Largest number of tokens of question and text together; longer texts are read in overlapping windows")
      ->type_name("N")
      ->default_value("")
      ->default_text(window)
      ->check(kPositive);
  add_overlap_flag(verb, options.overlap, options.max_tokens);
}

void add_answer_data_flags(Verb& verb, AnswerTrainingOptions& options) {
  add_paths_flag(verb, "--train", options.train, "Training data in the JSON format of SQuAD 1.1 or 2.0")->required();
  Flag* validation = add_path_flag(verb, "--validation", options.validation,
                                   "Validation data in the same format; the model that scores best on it is kept");
  const auto share = [&](const char* name, double& value, const char* help) {
    return verb.add_option(name, value, help)->type_name("P")->check(between(0.0, 0.9));
  };
  share("--validation-share", options.validation_share,
        "Fraction of the questions of --train to hold out for validation, by whole articles; they are written to "
        "validation.json in the output folder")
      ->excludes(validation);
  share("--test-share", options.test_share,
        "Fraction of the questions of --train to hold out for a test, by whole articles; they are written to test.json "
        "in the output folder, and not used");
  verb.add_option("--split-seed", options.split_seed, "Random seed of the choice of articles")->type_name("N");
  add_answer_language_flag(verb, options.language);
}

void add_answer_learning_flags(Verb& verb, AnswerTrainingFlags& flags, const char* window) {
  AnswerTrainingOptions& o = flags.options;
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type);
  };
  add_answer_window_flags(verb, o.windows, window);
  option("--max-answer-tokens", o.max_answer_tokens, "Largest number of tokens in an answer, for validation", "N")
      ->check(kPositive);
  option("--batch", o.batch, "Largest number of questions in a batch", "N")->check(kPositive);
  option("--word-dropout", o.word_dropout, "Fraction of tokens to replace by the unknown or mask token in training",
         "P")
      ->check(between(0.0, 0.99));
  add_training_flags(verb, flags.training, o.trainer, o.batch_tokens, {"f1", "exact_match", "loss"});
}

void train_answer_model(AnswerTrainingFlags& flags, const std::string& title) {
  const AnswerTrainingOptions& o = flags.options;
  if (o.validation_share + o.test_share >= 1)
    throw UsageError("--validation-share", "and --test-share leave no questions for training");
  check_validation(flags.training, !o.validation.empty() || o.validation_share > 0);
  run_training(flags.training, title, [&](const TrainingObserver& observer) { return train_answers(o, observer); });
}

}  // namespace attend::cli
