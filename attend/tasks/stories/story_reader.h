// Answers questions about stories.
//
//   attend::StoryReader reader("stories");
//   auto found = reader({"Mary moved to the bathroom.", "John went to the hallway."}, "Where is Mary?");
//   found.answer;       // "bathroom"
//   found.hops[0][1];   // how much the first hop attends to the second sentence
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attend/attention/map.h"
#include "attend/models/registry.h"
#include "attend/tasks/stories/story_network.h"

namespace attend {

struct StoryAnswer {
  std::string answer;  ///< words of an answer with several words have commas between them: "s,e"
  double prob = 0;
  std::vector<std::pair<std::string, double>> best;  ///< the best answers with their probabilities, the best first
  std::vector<std::vector<float>> hops;  ///< [hop][sentence] attention weights; empty unless it is a memory network
  std::int64_t dropped = 0;  ///< the first sentences of a story that do not fit into the model, or not entirely
  std::int64_t unknown = 0;  ///< words that the model does not know
};

/// The errors of a model on one task.
struct TaskError {
  int task = 0;
  std::int64_t questions = 0, wrong = 0;
  double error() const { return questions == 0 ? 0 : static_cast<double>(wrong) / static_cast<double>(questions); }
};
/// The mean of the tasks' errors.
double mean_error(const std::vector<TaskError>& tasks);

class StoryReader {
 public:
  /// Throws InputError if the folder's model does not answer questions about stories.
  explicit StoryReader(const ModelFolder& folder);
  explicit StoryReader(const std::filesystem::path& folder) : StoryReader(ModelFolder(folder)) {}

  std::int64_t hops() const { return network_.hops; }  ///< 0: not a memory network
  /// All answers that the model can give.
  const std::vector<std::string>& answers() const { return network_.answers; }

  /// `top`: the number of answers in StoryAnswer::best. Throws InputError if the story has no sentences, or if the
  /// question has no words.
  StoryAnswer operator()(const std::vector<std::string>& story, const std::string& question,
                         std::int64_t top = 1) const;

  /// The hops over the sentences, for pictures. Throws InputError unless it is a memory network.
  AttentionMap attention(const std::vector<std::string>& story, const std::string& question,
                         const StoryAnswer& answer) const;

  /// The errors on all questions of some stories, by task. An answer that the model does not know is an error.
  std::vector<TaskError> evaluate(const std::vector<Story>& stories) const;

 private:
  ModelFolder folder_;
  StoryNetwork network_;
};

/// The errors of a network on encoded questions, by task, and the sum of the losses of questions with known answers.
struct StoryEvaluation {
  std::vector<TaskError> tasks;
  double loss = 0;
  std::int64_t known = 0;  ///< questions whose answer is one of the network's
};
StoryEvaluation evaluate(const StoryNetwork& network, const StorySet& set);

}  // namespace attend
