// The training task of models that find answers in texts. train_answers() (attend/tasks/question_answering/training.h)
// makes a task from files.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "attend/tasks/question_answering/evaluation.h"
#include "attend/train/sampled_training_task.h"

namespace attend {

/// A question of the training data. `window` refers to texts that must outlive it.
struct SpanExample {
  SpanWindow window;
  /// The first and last token of each answer, at least one. {0, 0}: the window has no answer.
  std::vector<std::pair<std::int32_t, std::int32_t>> targets;
};

/// What training needs of a model.
struct TrainableSpanModel {
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  SpanReader reader;
  SaveModel save;
};

struct AnswerTrainingTaskOptions {
  std::int32_t unknown = -1;  ///< the id that replaces a dropped token; -1: no tokens are dropped
  std::vector<std::int32_t> never_dropped = {};
  float word_dropout = 0.f;    ///< the probability with which a token is replaced by `unknown` in training
  AnswerRules rules = {};      ///< of the evaluation
  AnswerOptions answers = {};  ///< of the evaluation
  BatchOptions batches = {};
};

class AnswerTrainingTask : public SampledTrainingTask {
 public:
  /// Throws InputError if there are no training examples.
  AnswerTrainingTask(TrainableSpanModel model, std::vector<SpanExample> training, std::vector<Article> validation,
                     AnswerTrainingTaskOptions options);

  /// The cross-entropy of the first and the last token. Of several answers, a random one is the target.
  Loss next() override;
  /// "f1" and "exact_match", between 0 and 1, and "loss" on the validation questions.
  Scores evaluate() override;

 private:
  Answerer answerer_;
  std::vector<SpanExample> training_;
  std::vector<Article> validation_;
  AnswerTrainingTaskOptions options_;
};

}  // namespace attend
