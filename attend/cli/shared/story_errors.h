// The errors of a model on the test files of stories, as `attend train memory` and `attend evaluate` print them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attend/tasks/stories/story_reader.h"
#include "attend/train/scores.h"

namespace attend::cli {

/// A row for each task and one for the mean, in percent. `validation` may be empty.
std::string table_of(const std::vector<TaskError>& validation, const std::vector<TaskError>& test);

/// "task 1", …, with the error of each task as a fraction, and "mean error".
Scores scores_of(const std::vector<TaskError>& tasks);

struct StoryEvaluationFlags {
  std::string model;
  std::vector<std::filesystem::path> data;
  std::vector<int> tasks;  ///< empty: all
  bool json = false;
};
/// Prints the errors of a model on the test files of some folders.
void evaluate_stories(const StoryEvaluationFlags& flags);

}  // namespace attend::cli
