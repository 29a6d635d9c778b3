#include "attend/cli/shared/story_errors.h"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/json_line.h"

namespace attend::cli {

std::string table_of(const std::vector<TaskError>& validation, const std::vector<TaskError>& test) {
  std::ostringstream out;
  out << "Task" << (validation.empty() ? "" : "   validation") << (test.empty() ? "" : "   test") << "   error in %\n"
      << std::fixed << std::setprecision(1);
  const auto cell = [&](const std::vector<TaskError>& tasks, int task, int width) {
    const auto found = std::ranges::find(tasks, task, &TaskError::task);
    if (tasks.empty()) return;
    if (found == tasks.end())
      out << std::setw(width) << "";
    else
      out << std::setw(width) << 100 * found->error();
  };
  for (const TaskError& task : validation.empty() ? test : validation) {
    out << std::setw(4) << task.task;
    cell(validation, task.task, 13), cell(test, task.task, 7);
    out << '\n';
  }
  out << "mean";
  if (!validation.empty()) out << std::setw(13) << 100 * mean_error(validation);
  if (!test.empty()) out << std::setw(7) << 100 * mean_error(test);
  out << '\n';
  return out.str();
}

Scores scores_of(const std::vector<TaskError>& tasks) {
  Scores scores;
  for (const TaskError& task : tasks) scores.emplace_back("task " + std::to_string(task.task), task.error());
  if (!tasks.empty()) scores.emplace_back("mean error", mean_error(tasks));
  return scores;
}

void evaluate_stories(const StoryEvaluationFlags& flags) {
  const StoryReader reader{std::filesystem::path(flags.model)};
  std::vector<StoryFiles> files = find_story_files(flags.data);
  if (flags.tasks.empty()) std::erase_if(files, [](const StoryFiles& one) { return one.test.empty(); });
  std::vector<TaskError> errors;
  for (const StoryFiles& one : choose_tasks(files, flags.tasks, /*train=*/false, /*test=*/true)) {
    stop_if_interrupted();
    errors.push_back(reader.evaluate(read_stories(one.test, one.task)).front());
  }
  TextWriter out;
  if (flags.json) {
    nlohmann::ordered_json json;
    for (const auto& [name, value] : scores_of(errors)) json[name] = value;
    out.write(as_line(json));
  } else {
    out.write(table_of({}, errors));
  }
  out.finish();
}

}  // namespace attend::cli
