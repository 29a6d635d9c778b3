// A Neural Turing Machine (Graves et al. 2014) that learns to copy: its heads walk through the memory.
#include <cmath>
#include <numbers>

#include "attend/cli/lessons/lesson.h"
#include "attend/cli/shared/algorithm_page.h"
#include "attend/core/wording.h"
#include "attend/nn/module.h"
#include "attend/ops/concat.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/tape.h"
#include "attend/train/clip.h"
#include "attend/train/optimizer.h"

namespace attend::cli::turing_lesson {
namespace {

constexpr std::int64_t kUpdates = 3000, kBatch = 8, kEvery = 150;
constexpr std::uint64_t kSeed = 2014;

/// The mean loss of a target bit, in bits.
Tensor loss_of(const TuringMachine& model, const AlgorithmBatch& batch) {
  const Tensor logits = model(batch.input);
  const Tensor one = logits.reshape({logits.numel(), 1});
  return cross_entropy(concat({Tensor::zeros(one.shape()), one}, 1), batch.target.reshape({batch.target.numel()}),
                       {.ignored = AlgorithmSequence::kNoTarget});
}

/// Trains the model, and returns its learning curve.
Series train(TuringMachine& model, const AlgorithmOptions& task, const std::string& name) {
  train_parameters(model);
  Adam optimizer(parameters(model), {.learning_rate = 5e-3});
  Series curve{name, {}, {}};
  double sum = 0;
  for (std::int64_t update = 1; update <= kUpdates; ++update) {
    std::vector<AlgorithmSequence> sequences;
    for (std::int64_t i = 0; i < kBatch; ++i)
      sequences.push_back(make_sequence(task, kSeed, static_cast<std::uint64_t>(update * kBatch + i)));
    const Tensor loss = loss_of(model, batch_of(sequences));
    sum += loss.item();
    backward(loss);
    optimizer.step({.gradient_scale = clip_scale(grad_norm(optimizer.parameters()), 1.0)});
    optimizer.zero_grad();
    if (update % kEvery > 0) continue;
    curve.x.push_back(static_cast<float>(update * kBatch));
    curve.y.push_back(static_cast<float>(sum / kEvery * std::numbers::log2e));
    sum = 0;
  }
  return curve;
}

Page give() {
  AlgorithmOptions task;
  task.bits = 4, task.max_length = 6;
  TuringMachineOptions options{
      .inputs = task.inputs(), .outputs = task.outputs(), .hidden = 32, .slots = 32, .width = 8};
  options.task = task.config();
  options.controller = kernels::Controller::feed_forward, options.biases = {.read_gate = -7.f, .write_gate = -7.f};
  Generator generator(kSeed);
  TuringMachine machine(options, generator);
  options.memory = MachineMemory::none, options.controller = kernels::Controller::lstm, options.hidden = 48;
  TuringMachine lstm(options, generator);

  Page page{"Turing: a network that writes to a memory and reads from it", {}};
  page.say(
      "The network sees 1 to 6 random vectors of 4 bits, then a mark, and must repeat the vectors. A Neural Turing "
      "Machine "
      "has a memory of 32 slots, one head that writes and one that reads: " +
      counted(count_parameters(machine), "parameter") + ". An LSTM with " +
      counted(count_parameters(lstm), "parameter") + " must keep everything in its state. Both learn from the same " +
      grouped(kUpdates * kBatch) + " sequences.");
  LinePlot plot{"loss while learning", "sequences", "bits per bit", {}};
  plot.series.push_back(train(machine, task, "Neural Turing Machine"));
  plot.series.push_back(train(lstm, task, "LSTM"));
  page.show(Figure{"A loss of 1 means guessing.", {std::move(plot)}});

  const NoGrad no_grad;
  Table table{{"wrong bits", "Neural Turing Machine", "LSTM"}, {}};
  for (const std::int64_t length : {6, 12, 24}) {
    AlgorithmOptions longer = task;
    longer.min_length = longer.max_length = length;
    const auto percent = [&](const TuringMachine& model) {
      return fixed(100 * evaluate_algorithm(model, longer, 100, kSeed + 1).error_rate(), 1) + " %";
    };
    table.rows.push_back({"length " + std::to_string(length), percent(machine), percent(lstm)});
  }
  page.heading("Longer than in training");
  page.say(
      "The Turing machine has learned a loop: write, go one slot on; at the mark go back; read, go one slot on. A loop "
      "also works for sequences that are somewhat longer than those in training.");
  page.show(std::move(table));
  page.heading("Where the heads are");
  AlgorithmOptions shown = task;
  shown.min_length = shown.max_length = 12;
  const AlgorithmRun run = run_algorithm(machine, make_sequence(shown, kSeed + 1, 0));
  page.say("A sequence of 12 vectors, twice as long as in training, with " + grouped(run.wrong) + " of " +
           counted(run.targets, "bit") + " wrong. Both heads walk along a diagonal: the same slots in the same order.");
  page.show(heads_figure(run));
  return page;
}

const Enlist kEnlisted({"turing", "a Neural Turing Machine learns to copy with a memory", give});

}  // namespace
}  // namespace attend::cli::turing_lesson
