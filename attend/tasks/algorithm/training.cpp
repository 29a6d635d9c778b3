#include "attend/tasks/algorithm/training.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/ops/concat.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tasks/algorithm/algorithm_model.h"
#include "attend/train/run.h"

namespace attend {
namespace {

constexpr std::uint64_t kValidationSeed = 0x2014'0000'0000ULL;  // no seed of a run has these sequences
constexpr std::int64_t kBatchesPerEpoch = 100;
constexpr std::int64_t kLongSequences = 20;

/// The sum of the binary cross-entropies of all target bits.   logits [B, T, O], target int32 [B, T, O]
Tensor bit_loss(const Tensor& logits, const Tensor& target) {
  const Tensor one = logits.reshape({logits.numel(), 1});
  return cross_entropy(concat({Tensor::zeros(one.shape()), one}, 1), target.reshape({target.numel()}),
                       {.ignored = AlgorithmSequence::kNoTarget, .reduction = Reduction::sum});
}

class AlgorithmTrainingTask : public TrainingTask {
 public:
  AlgorithmTrainingTask(std::shared_ptr<TuringMachine> model, const AlgorithmTrainingOptions& options,
                        const TrainingObserver& observer)
      : model_(std::move(model)), options_(options), observer_(observer), algorithm_(options.algorithm()) {
    position_.seed = options.trainer.seed;
  }

  std::vector<NamedTensor> parameters() override { return attend::parameters(*model_); }
  BatchPosition position() const override { return position_; }
  void restore(const BatchPosition& position) override {
    if (position.batch < 0 || position.batch >= kBatchesPerEpoch || position.epoch < 0)
      fail<InputError>("train", "the checkpoint's position is out of range: got batch ", position.batch, " of epoch ",
                       position.epoch);
    position_ = position;
  }
  std::int64_t batches_per_epoch() const override { return kBatchesPerEpoch; }
  void save(const std::filesystem::path& folder) override { model_->save(folder); }

  Loss next() override {
    const std::int64_t count = options_.batch_size();
    const std::int64_t first = (position_.epoch * kBatchesPerEpoch + position_.batch) * count;
    restart_if_at_chance(first, first + count);
    std::vector<AlgorithmSequence> sequences;
    for (std::int64_t i = first; i < first + count; ++i)
      sequences.push_back(make_sequence(source(i), position_.seed, static_cast<std::uint64_t>(i), longest(i)));
    const AlgorithmBatch batch = batch_of(sequences);
    if (++position_.batch == kBatchesPerEpoch) position_.batch = 0, ++position_.epoch;
    return {bit_loss((*model_)(batch.input), batch.target), batch.targets, batch.steps};
  }

  Scores evaluate() override {
    Scores scores;
    const auto add = [&](const AlgorithmOptions& options, std::int64_t count, const std::string& prefix) {
      const AlgorithmScores all = evaluate_algorithm(*model_, options, count, kValidationSeed);
      scores.emplace_back(prefix + "loss", all.bits_per_sequence);
      scores.emplace_back(prefix + "accuracy", 1 - all.error_rate());
    };
    add(algorithm_, options_.validation, "");
    if (const AlgorithmOptions more = longer(algorithm_); more.max_length != algorithm_.max_length)
      add(more, kLongSequences, "long_");
    return scores;
  }

 private:
  /// The task of sequence i. The contexts of n-grams rise from one bit in a curriculum: the shorter they are, the more
  /// often each occurs in a sequence, and the more there is to gain from a memory.
  AlgorithmOptions source(std::int64_t i) const {
    AlgorithmOptions source = algorithm_;
    if (source.task == AlgorithmTask::ngrams && i < options_.curriculum_sequences())
      source.context = 1 + i * source.context / options_.curriculum_sequences();
    return source;
  }

  /// Some random parameters never learn a task. So before the batch of the sequences [begin, end), if it has one of the
  /// places for a restart, the parameters are replaced by new ones if the network still guesses. The decision depends
  /// only on the parameters and the place, so a resumed run makes it as well.
  void restart_if_at_chance(std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t kMostRestarts = 3;
    constexpr double kChance = 0.8;  // bits of loss for each target bit
    const std::int64_t every = options_.restart_sequences();
    if (every == 0) return;
    const std::int64_t place = (begin + every - 1) / every;
    if (place < 1 || place > kMostRestarts || place * every >= end) return;
    const AlgorithmScores now = evaluate_algorithm(*model_, algorithm_, options_.validation, kValidationSeed);
    if (now.bits_per_sequence * static_cast<double>(now.sequences) < kChance * static_cast<double>(now.targets)) return;
    Generator generator(options_.trainer.seed);
    generator.restore(options_.trainer.seed, static_cast<std::uint64_t>(place) << 32);
    TuringMachine other(model_->options, generator);
    const auto from = attend::parameters(other), to = attend::parameters(*model_);
    for (std::size_t i = 0; i < to.size(); ++i) std::ranges::copy(from[i].tensor.span(), to[i].tensor.data());
    observer_.info("after " + grouped(begin) +
                   " sequences the network still guesses: it starts again with other random parameters");
  }

  /// The longest length of sequence i. In the first half of a curriculum it is a quarter of the way from the shortest
  /// to the longest length, so that the network first learns the algorithm, and then rises.
  std::int64_t longest(std::int64_t i) const {
    const std::int64_t curriculum = options_.curriculum_sequences();
    if (i >= curriculum || algorithm_.task == AlgorithmTask::ngrams) return 0;
    const std::int64_t half = (curriculum + 1) / 2, range = algorithm_.max_length - algorithm_.min_length;
    return algorithm_.min_length + (range + 3) / 4 +
           std::max<std::int64_t>(i - half, 0) * (range - (range + 3) / 4) / half;
  }

  std::shared_ptr<TuringMachine> model_;
  AlgorithmTrainingOptions options_;
  TrainingObserver observer_;
  AlgorithmOptions algorithm_;
  BatchPosition position_;
};

std::int64_t given(std::int64_t value, std::int64_t otherwise) { return value > 0 ? value : otherwise; }

}  // namespace

const AlgorithmDefaults& defaults_of(AlgorithmTask task) {
  // Each step is written to the next slot. Read heads may move, or find a slot by its content. A controller that soon
  // forgets does not drift in longer sequences.
  static const AlgorithmDefaults copy{
      .controller = kernels::Controller::lstm,
      .hidden = 100,
      .slots = 128,
      .width = 20,
      .address = 0,
      .read_heads = 1,
      .write_heads = 1,
      .shifts = 3,
      .biases = {.read_gate = 0, .write_gate = -7, .strength = 3, .write_shift = 2, .sharpness = 3},
      .forget_bias = 0,
      .batch = 4,
      .sequences = 30'000,
      .curriculum = 12'000,
      .restart = 0,
      .learning_rate = 2e-3};
  static const AlgorithmDefaults repeat_copy = [] {
    AlgorithmDefaults d = copy;
    d.slots = 32, d.biases.sharpness = 1, d.forget_bias = 1, d.sequences = 100'000, d.curriculum = 8'000;
    return d;
  }();
  static const AlgorithmDefaults recall = [] {
    AlgorithmDefaults d = repeat_copy;
    d.controller = kernels::Controller::feed_forward;
    d.slots = 64, d.sequences = 120'000, d.curriculum = 0, d.restart = 40'000;
    return d;
  }();
  // Write heads may find a slot by its content, too: to erase what was read, so that the next is the largest.
  static const AlgorithmDefaults sort = [] {
    AlgorithmDefaults d = repeat_copy;
    d.curriculum = 0, d.read_heads = d.write_heads = 4, d.biases.write_gate = -2, d.sequences = 200'000;
    return d;
  }();
  // All heads find the slot of a context by its address, and writing adds to what is there.
  static const AlgorithmDefaults ngrams = [] {
    AlgorithmDefaults d = repeat_copy;
    d.slots = 64, d.address = 10, d.shifts = 1, d.batch = 8, d.sequences = 50'000, d.curriculum = 16'000;
    d.biases = {.read_gate = 4, .write_gate = 4, .strength = 3, .write_shift = 0, .sharpness = 1, .erase = -3};
    return d;
  }();
  switch (task) {
    case AlgorithmTask::copy:
      return copy;
    case AlgorithmTask::repeat_copy:
      return repeat_copy;
    case AlgorithmTask::recall:
      return recall;
    case AlgorithmTask::sort:
      return sort;
    case AlgorithmTask::ngrams:
      return ngrams;
  }
  return copy;
}

AlgorithmOptions longer(const AlgorithmOptions& options) {
  AlgorithmOptions more = options;
  switch (options.task) {
    case AlgorithmTask::copy:
      more.min_length = more.max_length = 6 * options.max_length;
      break;
    case AlgorithmTask::repeat_copy:
    case AlgorithmTask::recall:
      more.min_length = more.max_length = 2 * options.max_length;
      break;
    case AlgorithmTask::sort:
    case AlgorithmTask::ngrams:
      break;
  }
  return more;
}

AlgorithmOptions AlgorithmTrainingOptions::algorithm() const {
  AlgorithmOptions o = AlgorithmOptions::of(task);
  o.bits = given(bits, o.bits);
  o.max_length = given(max_length, o.max_length);
  o.min_length = given(min_length, std::min(o.min_length, o.max_length));
  o.max_repeats = given(max_repeats, o.max_repeats);
  o.min_repeats = given(min_repeats, std::min(o.min_repeats, o.max_repeats));
  if (task != AlgorithmTask::repeat_copy && (min_repeats > 0 || max_repeats > 0))
    fail<InputError>("train", "only repeat-copy has repeats: got the task ", name_of(task, kAlgorithmTaskNames));
  o.check();
  return o;
}

TuringMachineOptions AlgorithmTrainingOptions::machine() const {
  const AlgorithmOptions o = algorithm();
  const AlgorithmDefaults& d = defaults_of(task);
  TuringMachineOptions m{.inputs = o.inputs(), .outputs = o.outputs(), .memory = memory};
  m.task = o.config();
  if (memory == MachineMemory::none) {
    m.controller = controller.value_or(kernels::Controller::lstm);
    m.hidden = given(hidden, 256), m.layers = static_cast<int>(given(layers, 3));
    return m;
  }
  if (layers > 1) fail<InputError>("train", "--layers needs --arch lstm: a controller of a memory has one layer");
  const bool dnc = memory == MachineMemory::dnc;
  m.controller = controller.value_or(d.controller);
  m.hidden = given(hidden, d.hidden);
  m.slots = given(slots, dnc ? std::min<std::int64_t>(d.slots, 64) : d.slots), m.width = given(width, d.width);
  m.read_heads = given(read_heads, d.read_heads), m.write_heads = given(write_heads, dnc ? 1 : d.write_heads);
  m.shifts = given(shifts, d.shifts), m.address = address >= 0 ? address : dnc ? 0 : std::min(d.address, m.width / 2);
  m.biases = d.biases, m.forget_bias = d.forget_bias;
  return m;
}

std::int64_t AlgorithmTrainingOptions::batch_size() const { return given(batch, defaults_of(task).batch); }

std::int64_t AlgorithmTrainingOptions::steps() const {
  return trainer.steps > 0 ? trainer.steps : defaults_of(task).sequences / batch_size();
}

std::int64_t AlgorithmTrainingOptions::curriculum_sequences() const {
  return curriculum >= 0 ? curriculum : defaults_of(task).curriculum;
}

std::int64_t AlgorithmTrainingOptions::restart_sequences() const {
  if (memory != MachineMemory::ntm) return 0;
  return restart >= 0 ? restart : defaults_of(task).restart;
}

TrainingResult train_algorithm(const AlgorithmTrainingOptions& options, const TrainingObserver& observer) {
  if (options.batch < 0 || options.batch > 4096)
    fail<InputError>("train", "the number of sequences in a batch is out of range: got ", options.batch,
                     ", expected 1 to 4,096");
  if (options.validation < 1 || options.validation > 100'000)
    fail<InputError>("train", "the number of validation sequences is out of range: got ", options.validation,
                     ", expected 1 to 100,000");
  if (options.trainer.seed == kValidationSeed)
    fail<InputError>("train", "this seed is that of the validation sequences: ", kValidationSeed);
  const TuringMachineOptions machine = options.machine();
  Generator generator(options.trainer.seed);
  const auto model = std::make_shared<TuringMachine>(machine, generator);
  train_parameters(*model);
  TrainerOptions trainer = options.trainer;
  trainer.steps = options.steps();
  if (trainer.learning_rate == 0)
    trainer.learning_rate = options.memory == MachineMemory::ntm ? defaults_of(options.task).learning_rate : 1e-3;
  // Of machines that copy, the one that also copies longer sequences is kept. The other networks hardly do that.
  if (trainer.metric.empty() && options.task == AlgorithmTask::copy && options.memory == MachineMemory::ntm)
    trainer.metric = "long_loss";
  const AlgorithmOptions algorithm = options.algorithm();
  trainer.folder = check_run(options.trainer, {}, {}, observer);
  trainer.fingerprint = run_fingerprint(options, {.model = model->config().dump()});
  std::string line = counted(count_parameters(*model), "parameter") + ", " +
                     grouped(trainer.steps * options.batch_size()) + " sequences in batches of " +
                     grouped(options.batch_size());
  if (options.task == AlgorithmTask::ngrams) {
    double bits = 0;
    for (std::int64_t i = 0; i < options.validation; ++i)
      bits += make_sequence(algorithm, kValidationSeed, static_cast<std::uint64_t>(i)).optimal_bits;
    std::string mean = std::to_string(bits / static_cast<double>(options.validation));
    line += "; the optimal estimator has a validation loss of " + mean.substr(0, mean.find('.') + 4);
  }
  observer.info(line);
  AlgorithmTrainingTask task(model, options, observer);
  return train(task, trainer, observer);
}

}  // namespace attend
