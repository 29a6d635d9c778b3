#include "attend/tasks/stories/training_task.h"

#include <algorithm>

#include "attend/ops/cross_entropy.h"
#include "attend/tasks/stories/story_reader.h"

namespace attend {

StoryTrainingTask::StoryTrainingTask(TrainableStoryNetwork network, StorySet training, StorySet validation,
                                     const StoryTrainingTaskOptions& options)
    : SampledTrainingTask(network.parameters, network.save, BatchSampler(training.lengths(), options.batches)),
      network_(std::move(network)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      lengths_(training_.lengths()),
      options_(options) {}

TrainingTask::Loss StoryTrainingTask::next() {
  network_.set_linear(position().epoch < options_.linear_epochs);
  const std::vector<std::int64_t> chosen = choose();
  const Tensor logits = network_.network.logits(training_, chosen, options_.time_noise, nullptr);
  std::int64_t tokens = 0;
  for (const std::int64_t i : chosen) tokens += lengths_[static_cast<std::size_t>(i)];
  return {cross_entropy(logits, training_.answers(chosen), {.reduction = Reduction::sum}), std::ssize(chosen), tokens};
}

Scores StoryTrainingTask::evaluate() {
  if (validation_.size() == 0) return {};
  // A run that is resumed may evaluate before its first batch, so the epoch of the last batch decides.
  const BatchPosition now = position();
  const bool linear = (now.batch == 0 ? now.epoch - 1 : now.epoch) < options_.linear_epochs;
  network_.set_linear(linear);
  if (linear) return {};
  const StoryEvaluation found = attend::evaluate(network_.network, validation_);
  return {{"accuracy", 1 - mean_error(found.tasks)},
          {"loss", found.loss / static_cast<double>(std::max<std::int64_t>(found.known, 1))}};
}

}  // namespace attend
