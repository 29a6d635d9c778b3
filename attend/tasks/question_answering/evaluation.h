// Evaluates the answers to the questions of SQuAD's files: those of a model, or those of a file of predictions.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/data/squad.h"
#include "attend/metrics/answers.h"
#include "attend/tasks/question_answering/answerer.h"

namespace attend {

/// The tokens of a window that have the answer to its question: {first, last}. {0, 0} if the question has no answer, if
/// the answer is not wholly in the window, and if it has no span.
std::pair<std::int32_t, std::int32_t> target_of(const SpanWindow& window, const ReferenceAnswer* answer);

/// The scores of all questions.
struct AnswerEvaluation {
  AnswerScores all, answerable, unanswerable;
  std::vector<AnswerScore> questions;  ///< the score of each question, in the order of the file
  std::int64_t missing = 0;            ///< questions without a prediction; their score is 0
};

/// Predicted answers by the ids of their questions; "" means that the text has no answer.
using AnswerPredictions = std::map<std::string, std::string, std::less<>>;

/// Answers all questions. options.may_lack is set if some question has no answer. A question that leaves no room for
/// the text gets no prediction. Throws InputError if two questions have the same id.
AnswerPredictions predict_answers(const Answerer& answerer, const std::vector<Article>& articles, AnswerOptions options,
                                  const Progress& progress = {}, double* loss = nullptr);

AnswerEvaluation evaluate_answers(const std::vector<Article>& articles, const AnswerPredictions& predictions,
                                  const AnswerRules& rules);

/// Reads a file of predictions in SQuAD's format: a JSON object, id → text. Throws InputError if it has another format.
AnswerPredictions read_predictions(const std::filesystem::path& file);

}  // namespace attend
