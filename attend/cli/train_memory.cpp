// attend train memory: a memory network from stories with questions.
#include <iostream>
#include <memory>
#include <optional>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/story_errors.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/tasks/stories/training.h"

namespace attend::cli {
namespace {

struct TrainMemoryFlags {
  StoryTrainingOptions options;
  TrainingFlags training;
  bool joint = false;
  std::optional<std::int64_t> width, layers, heads;  // unset: the default of the architecture
};

StoryTrainingResult train_one(TrainMemoryFlags& flags) {
  StoryTrainingResult result;
  run_training(flags.training, "Training of " + flags.options.trainer.output.string(),
               [&](const TrainingObserver& observer) {
                 result = train_stories(flags.options, observer);
                 result.training.test = scores_of(result.test);
                 return result.training;
               });
  return result;
}

/// One network for each task, in the folder qaN of the output folder, unless there is only one task.
void train_each(TrainMemoryFlags& flags) {
  StoryTrainingOptions& o = flags.options;
  const std::filesystem::path output = o.trainer.output;
  const std::vector<StoryFiles> files = choose_tasks(find_story_files(o.data), o.tasks);
  StoryTrainingResult all;
  for (const StoryFiles& one : files) {
    o.tasks = {one.task};
    if (files.size() > 1) o.trainer.output = output / ("qa" + std::to_string(one.task));
    const StoryTrainingResult result = train_one(flags);
    all.validation.insert(all.validation.end(), result.validation.begin(), result.validation.end());
    all.test.insert(all.test.end(), result.test.begin(), result.test.end());
  }
  if (!flags.training.json) std::cout << table_of(all.validation, all.test);
}

void run(TrainMemoryFlags& flags) {
  StoryTrainingOptions& o = flags.options;
  if (flags.width) {
    o.model.width = o.lstm.embedding = o.lstm.hidden = o.transformer.width = *flags.width;
    o.transformer.inner = 4 * *flags.width;
  }
  if (flags.layers) o.lstm.layers = static_cast<int>(*flags.layers), o.transformer.layers = *flags.layers;
  if (flags.heads) o.transformer.heads = *flags.heads;
  if (o.architecture != StoryArchitecture::memory) {
    const Verb& verb = *flags.training.verb;
    if (!verb.get_option("--learning-rate")->given()) o.trainer.learning_rate = 1e-3;
    if (!verb.get_option("--adam-epsilon")->given()) o.trainer.epsilon = 1e-8;
    if (!verb.get_option("--validation-share")->given()) o.validation = 0.1;
  }
  check_validation(flags.training, o.validation > 0, "--validation-share");
  if (o.architecture == StoryArchitecture::transformer) check_heads(o.transformer.heads, o.transformer.width);
  if (!flags.joint) return train_each(flags);
  const StoryTrainingResult result = train_one(flags);
  if (!flags.training.json) std::cout << table_of(result.validation, result.test);
}

}  // namespace

void add_train_memory(Verb& parent) {
  Verb* verb = parent.add_subcommand("memory", "Train a memory network that answers questions about stories");
  auto flags = std::make_shared<TrainMemoryFlags>();
  StoryTrainingOptions& o = flags->options;
  const auto option = [](Verb* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type);
  };
  add_paths_flag(*verb, "--data", o.data,
                 "Folders with files in the format of the bAbI tasks: qaN_NAME_train.txt and qaN_NAME_test.txt, whose "
                 "lines are \"1 Mary moved to the bathroom.\" or \"3 Where is Mary? TAB bathroom TAB 1\"; a later "
                 "folder provides what an earlier one lacks")
      ->type_name("DIR")
      ->required();
  option(verb, "--tasks", o.tasks, "Tasks to train on, separated by commas", "N,N")
      ->delimiter(',')
      ->check(kPositive)
      ->default_text("all");
  verb->add_flag("--joint", flags->joint,
                 "Train one network on all tasks, instead of one network for each task in a folder of its own");
  option(verb, "--validation-share", o.validation,
         "Fraction of the training questions to hold out, by whole stories; the network that answers them best is kept",
         "P")
      ->check(between(0.0, 0.9))
      ->default_text("0; with --arch lstm or transformer 0.1");
  option(verb, "--batch", o.batch, "Largest number of questions in a batch", "N")->check(kPositive);
  option(verb, "--restarts", o.restarts,
         "Number of networks to train, each from other random weights; the one with the lowest loss on the held-out "
         "questions, or else on the training questions, is kept; one that answers all held-out questions is the last",
         "N")
      ->check(between(1, 100));
  add_training_flags(*verb, flags->training, o.trainer, o.batch_tokens, {"accuracy", "loss"});
  verb->get_option("--learning-rate")->default_value("")->default_text("0.1; with --arch lstm or transformer 0.001");
  verb->get_option("--adam-epsilon")->default_value("")->default_text("0.1; with --arch lstm or transformer 1e-8");

  auto* net = verb->add_option_group("The network");
  add_choice(*net, "--arch", o.architecture, kStoryArchitectureNames,
             "Architecture; the last two read story and question as one sequence, for comparison");
  option(net, "--width", flags->width, "Size of the embeddings and of the layers", "N")
      ->check(between(1, 4096))
      ->default_text(std::to_string(o.model.width));
  option(net, "--memory-size", o.memory, "Number of sentences that the network sees, the last ones of a story", "N")
      ->check(between(1, 10'000));
  auto* memory = verb->add_option_group("A memory network");
  option(memory, "--hops", o.model.hops, "Number of times that it attends to the story", "N")->check(between(1, 6));
  add_choice(*memory, "--tying", o.model.tying, kMemoryTyingNames, "How the hops share their embeddings");
  add_choice(*memory, "--encoding", o.model.encoding, kSentenceEncodingNames,
             "How the words of a sentence are summed: as a bag of words, or weighted by their positions");
  memory->add_flag("--temporal,!--no-temporal", o.model.temporal, "Add a vector for the age of each sentence, or none");
  option(memory, "--time-noise", o.time_noise, "Fraction of empty memories that are inserted in training", "P")
      ->check(between(0.0, 1.0));
  option(memory, "--linear-epochs", o.linear_epochs,
         "Linear start: number of epochs without the softmax of the attention, at most half of the run; 0 disables it",
         "N")
      ->check(kNotNegative);
  memory->add_flag("--nonlinear,!--no-nonlinear", o.model.nonlinear,
                   "Apply a ReLU to half of the units between hops, or none");
  memory->add_flag("--hop-matrix,!--no-hop-matrix", o.model.hop_matrix,
                   "Transform the question by a learned matrix between hops, or not; with layer-wise tying always");
  option(memory, "--init-deviation", o.model.deviation, "Standard deviation of the initial embeddings", "X")
      ->check(kPositive);
  option(memory, "--dropout", o.model.dropout, "Dropout probability of memories and question", "P")
      ->check(between(0.0, 0.99));
  auto* others = verb->add_option_group("An LSTM or a Transformer");
  option(others, "--layers", flags->layers, "Number of layers", "N")
      ->check(between(1, 100))
      ->default_text("1 for lstm, 2 for transformer");
  option(others, "--heads", flags->heads, "Number of attention heads of a Transformer", "N")
      ->check(between(1, 100))
      ->default_text(std::to_string(o.transformer.heads));
  verb->footer(
      "Example:\n"
      "  attend train memory --data tasks_1-20_v1-2/en --joint --output stories\n"
      "  printf 'Mary moved to the bathroom.\\nJohn went to the hallway.\\nWhere is Mary?\\n' |\n"
      "    attend answer --model stories --attention");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
