// The scores of answers to the questions of SQuAD's files, as `attend evaluate` prints them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attend/metrics/bootstrap.h"
#include "attend/tasks/question_answering/answerer.h"

namespace attend::cli {

struct AnswerEvaluationFlags {
  std::string model;                         ///< folder of a model, or:
  std::string adapter;                       ///< of that model; empty: none
  std::string predictions;                   ///< file of predictions
  std::vector<std::filesystem::path> files;  ///< questions with their references
  std::string save;                          ///< file for the model's predictions; empty: none
  std::string language = "en";
  AnswerOptions options;
  bool confidence = false, json = false;
  int digits = 2;
  BootstrapOptions bootstrap;
};
/// Prints exact match and F1 in percent.
void evaluate_paragraph_answers(const AnswerEvaluationFlags& flags);

}  // namespace attend::cli
