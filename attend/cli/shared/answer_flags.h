// The flags that `attend train answer` and `attend finetune answer` share.
#pragma once
#include <string>

#include "attend/cli/shared/training.h"
#include "attend/tasks/question_answering/training.h"

namespace attend::cli {

struct AnswerTrainingFlags {
  TrainingFlags training;
  AnswerTrainingOptions options;
};

/// --language CODE, of the answers.
void add_answer_language_flag(Verb& verb, std::string& language);

/// The default of --max-tokens for a model of any kind.
constexpr const char* kAnswerWindow = "384 for BERT's family, or the model's limit; 1024 for others";
/// --max-tokens and --overlap. `window` describes the default of --max-tokens.
void add_answer_window_flags(Verb& verb, SpanWindowOptions& options, const char* window);

/// --train, --validation, the shares that are held out, and --language.
void add_answer_data_flags(Verb& verb, AnswerTrainingOptions& options);
/// The flags of training, with the options' values as defaults. `window` describes the default of --max-tokens.
void add_answer_learning_flags(Verb& verb, AnswerTrainingFlags& flags, const char* window);

/// Checks the flags and trains.
void train_answer_model(AnswerTrainingFlags& flags, const std::string& title);

}  // namespace attend::cli
