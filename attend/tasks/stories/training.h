// Trains a network that answers questions about stories, on files of the bAbI tasks: a memory network, or for
// comparison an LSTM or a Transformer encoder.
//
//   attend::StoryTrainingOptions options;
//   options.data = {"tasks_1-20_v1-2/en"};
//   options.trainer.output = "stories";
//   attend::train_stories(options);
//   attend::StoryReader reader("stories");
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attend/models/bert.h"
#include "attend/models/memory_network.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/tasks/stories/story_reader.h"
#include "attend/train/trainer.h"

namespace attend {

enum class StoryArchitecture : std::uint8_t { memory, lstm, transformer };
extern const std::vector<std::pair<std::string, StoryArchitecture>> kStoryArchitectureNames;

struct StoryTrainingOptions {
  std::vector<std::filesystem::path> data;  ///< see find_story_files()
  std::vector<int> tasks = {};              ///< empty: all. One network is trained on all of them
  double validation = 0;                    ///< the share of the training questions that is held out, by whole stories
  std::int64_t batch = 32;                  ///< questions in a batch
  std::int64_t batch_tokens = 65536;        ///< words in a batch, including padding
  std::int64_t memory = 50;                 ///< the number of sentences of a story that a network sees
  std::int64_t restarts = 1;                ///< networks that are trained from other random weights; the best is kept
  StoryArchitecture architecture = StoryArchitecture::memory;
  // The memory network:
  /// With larger initial embeddings, a hop attends from the start to sentences that share words with what the hop
  /// before has read. A network finds chains of facts in this way (task 16), which it did not with small ones.
  MemoryNetworkOptions model = {.nonlinear = true, .hop_matrix = true, .deviation = 0.3f};
  float time_noise = 0.1f;  ///< share of empty memories in training: see TimeNoise
  /// Linear start: the first epochs are trained without softmax in the hops. At most half of the run is used.
  std::int64_t linear_epochs = 10;
  // The others. They read the story and the question as one sequence:
  RecurrentClassifierOptions lstm = {.embedding = 64,
                                     .hidden = 64,
                                     .cell = kernels::Cell::lstm,
                                     .bidirectional = false,
                                     .pooling = StatePooling::last,
                                     .dropout = 0.1f};
  BertOptions transformer = {.width = 64, .layers = 2, .heads = 4, .inner = 256, .types = 1};
  /// The large epsilon makes Adam similar to SGD: with the usual one, memory networks overfit.
  TrainerOptions trainer = {.epochs = 60, .learning_rate = 0.1, .weight_decay = 0.f, .epsilon = 0.1};

  /// Visits the options that must not change when a run is resumed, besides those of the model and the tokenizer.
  void visit(auto&& v) const {
    v("tasks", tasks), v("validation", validation), v("batch", batch), v("batch_tokens", batch_tokens);
    v("memory", memory);
    v("time_noise", time_noise), v("linear_epochs", linear_epochs), v("deviation", model.deviation),
        v("trainer", trainer);
  }
};

struct StoryTrainingResult {
  TrainingResult training;
  std::vector<TaskError> validation;  ///< of the saved model
  std::vector<TaskError> test;        ///< of the saved model; only tasks that have a test file
};

/// Trains a network and saves the one with the best validation score to options.trainer.output. The test files are read
/// only afterwards. Scores: "accuracy" (the mean of all tasks) and "loss". With several restarts, those after the first
/// are in the subfolders restart-2, restart-3, …; the one with the lowest loss on the validation questions, or on the
/// training questions if there are no others, becomes the model. A network that answers all validation questions is the
/// last one. Throws InputError if a file or an option is wrong.
StoryTrainingResult train_stories(const StoryTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
