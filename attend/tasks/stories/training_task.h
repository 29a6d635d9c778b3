// The training task of networks that answer questions about stories. train_stories()
// (attend/tasks/stories/training.h) makes a task from files.
#pragma once
#include <functional>
#include <vector>

#include "attend/tasks/stories/story_network.h"
#include "attend/tasks/stories/story_set.h"
#include "attend/train/sampled_training_task.h"

namespace attend {

/// The functions of a network that training needs.
struct TrainableStoryNetwork {
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  StoryNetwork network;
  std::function<void(bool on)> set_linear;  ///< removes or inserts the softmax of a memory network's hops
  SaveModel save;
};

struct StoryTrainingTaskOptions {
  float time_noise = 0.1f;         ///< see TimeNoise
  std::int64_t linear_epochs = 0;  ///< linear start: the hops have no softmax in so many epochs
  BatchOptions batches = {};
};

class StoryTrainingTask : public SampledTrainingTask {
 public:
  /// Throws InputError if there are no training questions.
  StoryTrainingTask(TrainableStoryNetwork network, StorySet training, StorySet validation,
                    const StoryTrainingTaskOptions& options);

  Loss next() override;
  /// "accuracy" (the mean of all tasks) and "loss" on the validation questions. There are no scores during linear
  /// start, so that a network without softmax is not kept as the best.
  Scores evaluate() override;

 private:
  TrainableStoryNetwork network_;
  StorySet training_, validation_;
  std::vector<std::int32_t> lengths_;  // of the training questions
  StoryTrainingTaskOptions options_;
};

}  // namespace attend
