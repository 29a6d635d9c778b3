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
constexpr float kClosedGate = -7.f;

/// The sum of the binary cross-entropies of all target bits.   logits [B, T, O], target int32 [B, T, O]
Tensor bit_loss(const Tensor& logits, const Tensor& target) {
  const Tensor one = logits.reshape({logits.numel(), 1});
  return cross_entropy(concat({Tensor::zeros(one.shape()), one}, 1), target.reshape({target.numel()}),
                       {.ignored = AlgorithmSequence::kNoTarget, .reduction = Reduction::sum});
}

class AlgorithmTrainingTask : public TrainingTask {
 public:
  AlgorithmTrainingTask(std::shared_ptr<TuringMachine> model, const AlgorithmTrainingOptions& options)
      : model_(std::move(model)), options_(options), algorithm_(options.algorithm()) {
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
    const std::int64_t first = (position_.epoch * kBatchesPerEpoch + position_.batch) * options_.batch;
    std::vector<AlgorithmSequence> sequences;
    for (std::int64_t i = first; i < first + options_.batch; ++i)
      sequences.push_back(make_sequence(algorithm_, position_.seed, static_cast<std::uint64_t>(i), longest(i)));
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
  /// The longest length of sequence i. In the first half of a curriculum it is a quarter of the way from the shortest
  /// to the longest length, so that the network first learns the algorithm, and then rises.
  std::int64_t longest(std::int64_t i) const {
    const std::int64_t curriculum = options_.curriculum_sequences();
    if (i >= curriculum) return 0;
    const std::int64_t half = (curriculum + 1) / 2, range = algorithm_.max_length - algorithm_.min_length;
    return algorithm_.min_length + (range + 3) / 4 +
           std::max<std::int64_t>(i - half, 0) * (range - (range + 3) / 4) / half;
  }

  std::shared_ptr<TuringMachine> model_;
  AlgorithmTrainingOptions options_;
  AlgorithmOptions algorithm_;
  BatchPosition position_;
};

/// Training sequences of a whole run.
std::int64_t default_sequences(AlgorithmTask task) {
  switch (task) {
    case AlgorithmTask::copy:
      return 30'000;
    case AlgorithmTask::repeat_copy:
    case AlgorithmTask::recall:
    case AlgorithmTask::sort:
      return 100'000;
    case AlgorithmTask::ngrams:
      return 50'000;
  }
  return 0;
}

std::int64_t given(std::int64_t value, std::int64_t otherwise) { return value > 0 ? value : otherwise; }

}  // namespace

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
  TuringMachineOptions m{.inputs = o.inputs(),
                         .outputs = o.outputs(),
                         .memory = memory,
                         .controller = controller.value_or(kernels::Controller::feed_forward)};
  m.task = o.config();
  if (memory == MachineMemory::none) {
    m.controller = controller.value_or(kernels::Controller::lstm);
    m.hidden = given(hidden, 256), m.layers = static_cast<int>(given(layers, 3));
    return m;
  }
  if (layers > 1) fail<InputError>("train", "--layers needs --arch lstm: a controller of a memory has one layer");
  const std::int64_t heads = task == AlgorithmTask::sort ? 4 : 1;
  const bool dnc = memory == MachineMemory::dnc;
  m.hidden = given(hidden, 100);
  m.slots = given(slots, dnc ? 64 : 128), m.width = given(width, 20);
  m.read_heads = given(read_heads, dnc && task == AlgorithmTask::sort ? 2 : heads);
  m.write_heads = given(write_heads, dnc ? 1 : heads);
  m.shifts = shifts;
  if (task == AlgorithmTask::copy) m.gate_bias = kClosedGate;
  return m;
}

std::int64_t AlgorithmTrainingOptions::steps() const {
  return trainer.steps > 0 ? trainer.steps : default_sequences(task) / std::max<std::int64_t>(batch, 1);
}

std::int64_t AlgorithmTrainingOptions::curriculum_sequences() const {
  return curriculum >= 0 ? curriculum : default_sequences(task) * 2 / 5;
}

TrainingResult train_algorithm(const AlgorithmTrainingOptions& options, const TrainingObserver& observer) {
  if (options.batch < 1 || options.batch > 4096)
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
  // The model that also works on longer sequences is the one to keep.
  const AlgorithmOptions algorithm = options.algorithm();
  if (trainer.metric.empty() && longer(algorithm).max_length != algorithm.max_length) trainer.metric = "long_accuracy";
  trainer.folder = check_run(options.trainer, {}, {}, observer);
  trainer.fingerprint = run_fingerprint(options, {.model = model->config().dump()});
  std::string line = counted(count_parameters(*model), "parameter") + ", " + grouped(trainer.steps * options.batch) +
                     " sequences in batches of " + grouped(options.batch);
  if (options.task == AlgorithmTask::ngrams) {
    double bits = 0;
    for (std::int64_t i = 0; i < options.validation; ++i)
      bits += make_sequence(algorithm, kValidationSeed, static_cast<std::uint64_t>(i)).optimal_bits;
    std::string mean = std::to_string(bits / static_cast<double>(options.validation));
    line += "; the optimal estimator has a validation loss of " + mean.substr(0, mean.find('.') + 4);
  }
  observer.info(line);
  AlgorithmTrainingTask task(model, options);
  return train(task, trainer, observer);
}

}  // namespace attend
