// attend train algorithm: a Neural Turing Machine, a Differentiable Neural Computer or an LSTM that learns an
// algorithm.
#include <algorithm>
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/tasks/algorithm/training.h"

namespace attend::cli {
namespace {

enum class Arch : std::uint8_t { ntm, lstm };

struct TrainAlgorithmFlags {
  TrainingFlags training;
  AlgorithmTrainingOptions options;
  Arch arch = Arch::ntm;
};

/// The defaults that depend on the task, as a table for the help.
std::string defaults_table() {
  std::vector<std::vector<std::string>> rows = {{"task", "controller", "hidden", "slots", "width", "address", "heads",
                                                 "shifts", "batch", "sequences", "curriculum", "restart", "rate"}};
  for (const auto& [name, task] : kAlgorithmTaskNames) {
    const AlgorithmDefaults& d = defaults_of(task);
    rows.push_back({name, name_of(d.controller, kControllerNames), text_of(d.hidden), text_of(d.slots),
                    text_of(d.width), text_of(d.address), text_of(d.read_heads), text_of(d.shifts), text_of(d.batch),
                    text_of(d.sequences), text_of(d.curriculum), text_of(d.restart), text_of(d.learning_rate)});
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[column].size());
      line += ' ' + row[column];
      if (column + 1 < row.size()) line.append(width - row[column].size() + 1, ' ');
    }
    text += line + '\n';
  }
  return text;
}

}  // namespace

void add_train_algorithm(Verb& parent) {
  Verb* verb = parent.add_subcommand("algorithm", "Train a Neural Turing Machine to copy, recall, sort or predict");
  auto flags = std::make_shared<TrainAlgorithmFlags>();
  AlgorithmTrainingOptions& o = flags->options;
  const auto size = [](Verb* app, const char* name, std::int64_t& value, const char* help, const char* otherwise) {
    app->add_option(name, value, help)->type_name("N")->default_value("")->default_text(otherwise)->check(kPositive);
  };
  const char* by_task = "depends on the task";
  add_choice(*verb, "--task", o.task, kAlgorithmTaskNames, "What to learn")->required();
  size(verb, "--bits", o.bits, "Bits of a vector", by_task);
  size(verb, "--min-length", o.min_length, "Shortest sequence: vectors; recall: items; ngrams: bits", by_task);
  size(verb, "--max-length", o.max_length, "Longest sequence", by_task);
  size(verb, "--min-repeats", o.min_repeats, "Smallest number of copies (repeat-copy)", "1");
  size(verb, "--max-repeats", o.max_repeats, "Largest number of copies (repeat-copy)", "10");
  verb->add_option("--batch", o.batch, "Number of sequences in a batch")
      ->type_name("N")
      ->default_value("")
      ->default_text(by_task)
      ->check(between(1, 4096));
  verb->add_option("--curriculum", o.curriculum,
                   "Number of sequences until the longest length is --max-length (ngrams: until the contexts have all "
                   "of their bits); 0 disables it")
      ->type_name("N")
      ->default_value("")
      ->default_text(by_task)
      ->check(kNotNegative);
  verb->add_option("--restart", o.restart,
                   "Give a Turing machine that still guesses after N, 2 N or 3 N sequences new random parameters; 0 "
                   "disables it")
      ->type_name("N")
      ->default_value("")
      ->default_text(by_task)
      ->check(kNotNegative);
  verb->add_option("--validation-sequences", o.validation, "Number of generated sequences in the validation set")
      ->type_name("N")
      ->check(between(1, 100000));
  add_training_flags(*verb, flags->training, o.trainer, {"loss", "accuracy", "long_loss", "long_accuracy"});
  verb->get_option("--learning-rate")->default_value("")->default_text(by_task);
  verb->get_option("--metric")->default_text("loss; for a Turing machine that copies long_loss");
  auto* net = verb->add_option_group("The network");
  add_choice(*net, "--arch", flags->arch, {{"ntm", Arch::ntm}, {"lstm", Arch::lstm}},
             "Architecture; ntm has an external memory, lstm has none");
  add_choice(*net, "--memory", o.memory, {{"ntm", MachineMemory::ntm}, {"dnc", MachineMemory::dnc}},
             "Memory: of the Neural Turing Machine or of the Differentiable Neural Computer");
  add_choice<std::optional<kernels::Controller>, kernels::Controller>(*net, "--controller", o.controller,
                                                                      kControllerNames, "Controller of the memory")
      ->default_text(by_task);
  size(net, "--hidden", o.hidden, "Units of the controller, or of each layer of an LSTM",
       "depends on the task; lstm: 256");
  size(net, "--layers", o.layers, "Layers of an LSTM without a memory", "3");
  size(net, "--slots", o.slots, "Slots of the memory", "depends on the task; dnc: at most 64");
  size(net, "--width", o.width, "Numbers in a slot", by_task);
  net->add_option("--address", o.address, "How many numbers of a slot are its fixed random address; dnc: 0")
      ->type_name("N")
      ->default_value("")
      ->default_text(by_task)
      ->check(kNotNegative);
  size(net, "--read-heads", o.read_heads, "Number of read heads", by_task);
  size(net, "--write-heads", o.write_heads, "Number of write heads; dnc: 1", by_task);
  size(net, "--shifts", o.shifts, "Number of possible shifts of a head, odd: 3 is one slot back, none, one forward",
       by_task);
  verb->footer("Defaults by task (as many read heads as write heads; rate: the learning rate, dnc and lstm 0.001):\n" +
               defaults_table() +
               "\nExample:\n"
               "  attend train algorithm --task copy --output copier\n"
               "  attend run-algorithm --model copier --length 20 --output copy.svg");
  verb->callback([flags] {
    AlgorithmTrainingOptions& options = flags->options;
    if (flags->arch == Arch::lstm) {
      if (options.memory == MachineMemory::dnc)
        throw UsageError("--memory dnc needs --arch ntm: an lstm has no memory");
      options.memory = MachineMemory::none;
    }
    run_training(flags->training, "Training of " + options.trainer.output.string(),
                 [&](const TrainingObserver& observer) { return train_algorithm(options, observer); });
  });
}

}  // namespace attend::cli
