// Trains a network on one of the tasks of tasks/algorithm/algorithm.h:
//
//   attend::AlgorithmTrainingOptions options;
//   options.task = attend::AlgorithmTask::copy;
//   options.trainer.output = "copier";
//   attend::train_algorithm(options);
//   attend::AlgorithmModel model("copier");
//
// The training sequences are generated: sequence i of a run depends only on the seed and i.
#pragma once
#include <cstdint>
#include <optional>

#include "attend/models/turing_machine.h"
#include "attend/tasks/algorithm/algorithm.h"
#include "attend/train/trainer.h"

namespace attend {

/// What works for a task: the network and its training.
struct AlgorithmDefaults {
  kernels::Controller controller;
  std::int64_t hidden, slots, width, address, read_heads, write_heads, shifts;
  HeadBiases biases;
  float forget_bias;
  std::int64_t batch;       ///< sequences in a batch
  std::int64_t sequences;   ///< of a whole run
  std::int64_t curriculum;  ///< those in which the lengths rise; ngrams: the contexts
  std::int64_t restart;     ///< sequences after which a network that has learned nothing is re-initialised; 0: never
  double learning_rate;
};
/// The one table of defaults. The memory of a DNC has one write head and at most 64 slots, and a network without a
/// memory has 3 layers of 256 units; both have a learning rate of 0.001.
const AlgorithmDefaults& defaults_of(AlgorithmTask task);

/// In all sizes, and in the learning rate, 0 means the default of the task.
struct AlgorithmTrainingOptions {
  AlgorithmTask task = AlgorithmTask::copy;
  std::int64_t bits = 0;
  std::int64_t min_length = 0, max_length = 0;
  std::int64_t min_repeats = 0, max_repeats = 0;
  MachineMemory memory = MachineMemory::ntm;
  std::optional<kernels::Controller> controller = {};  ///< empty: the default of the task
  std::int64_t hidden = 0, layers = 0;                 ///< layers: without a memory
  std::int64_t slots = 0, width = 0, read_heads = 0, write_heads = 0, shifts = 0;
  std::int64_t address = -1;  ///< numbers of a slot that are its address; -1: the task's default, at most half of them
  std::int64_t batch = 0;     ///< sequences in a batch
  /// Sequences until the longest length is max_length, or until the contexts of n-grams have all of their bits; 0:
  /// none, -1: the task's default.
  std::int64_t curriculum = -1;
  /// Re-initialise a Turing machine whose validation loss is still that of random guessing. It is checked after this
  /// number of sequences, and after twice and three times this number. 0: never; -1: the task's default.
  std::int64_t restart = -1;
  std::int64_t validation = 100;  ///< sequences in the validation set
  /// steps = 0 and learning_rate = 0: the defaults of the task. When a task is almost solved, most gradients are tiny,
  /// and Adam would answer a single large one with an update that undoes what was learned; a smaller beta2 and a larger
  /// epsilon than usual keep such updates small.
  TrainerOptions trainer = {.epochs = 0,
                            .learning_rate = 0,
                            .weight_decay = 0.f,
                            .beta2 = 0.98,
                            .epsilon = 1e-6,
                            .clip = 1.0,
                            .average = 0.99,
                            .evaluate_every = 100,
                            .log_every = 100};

  AlgorithmOptions algorithm() const;    ///< the task with all sizes. Throws InputError if they do not fit
  TuringMachineOptions machine() const;  ///< the network with all sizes
  std::int64_t batch_size() const;
  std::int64_t steps() const;  ///< updates
  std::int64_t curriculum_sequences() const;
  std::int64_t restart_sequences() const;
  /// Visits the options that must not change when a run is resumed, besides those of the model.
  void visit(auto&& v) const {
    v("batch", batch_size()), v("curriculum", curriculum_sequences()), v("restart", restart_sequences());
    v("trainer", trainer);
  }
};

/// Trains a model and saves it to options.trainer.output. Scores on generated sequences that are the same in each run:
/// "loss", in bits per sequence, and "accuracy", the fraction of right bits; for tasks that are tested on longer
/// sequences than they are trained on, also "long_loss" and "long_accuracy". Throws InputError if an option is wrong.
TrainingResult train_algorithm(const AlgorithmTrainingOptions& options, const TrainingObserver& observer = {});

/// The options for sequences that are longer than those of training: copy: 6 × max_length (120); repeat-copy:
/// 2 × max_length; recall: 2 × max_length items. The other tasks have no such sequences: the same options.
AlgorithmOptions longer(const AlgorithmOptions& options);

}  // namespace attend
