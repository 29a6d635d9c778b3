#include "attend/tasks/algorithm/algorithm_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// The loss of one bit in bits: log2(1 + e^-z) for a one, with z the logit.
double loss_of(float logit, std::int32_t bit) {
  const double z = bit == 1 ? -static_cast<double>(logit) : static_cast<double>(logit);
  return (std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)))) * std::numbers::log2e;
}

struct Count {
  std::int64_t targets = 0, wrong = 0;
  double bits = 0;

  void add(const float* logits, const std::int32_t* target, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (target[i] == AlgorithmSequence::kNoTarget) continue;
      ++targets, wrong += (logits[i] > 0) != (target[i] == 1), bits += loss_of(logits[i], target[i]);
    }
  }
};

}  // namespace

AlgorithmScores evaluate_algorithm(const TuringMachine& model, const AlgorithmOptions& options, std::int64_t count,
                                   std::uint64_t seed) {
  const NoGrad no_grad;
  constexpr std::int64_t kBatch = 20;
  Count all;
  AlgorithmScores scores{.sequences = count};
  for (std::int64_t first = 0; first < count; first += kBatch) {
    std::vector<AlgorithmSequence> sequences;
    for (std::int64_t i = first; i < std::min(count, first + kBatch); ++i) {
      sequences.push_back(make_sequence(options, seed, static_cast<std::uint64_t>(i)));
      scores.optimal_bits += sequences.back().optimal_bits / static_cast<double>(count);
    }
    const AlgorithmBatch batch = batch_of(sequences);
    const Tensor logits = model(batch.input);
    all.add(logits.data(), batch.target.data<std::int32_t>(), logits.numel());
  }
  scores.targets = all.targets, scores.wrong = all.wrong;
  scores.bits_per_sequence = all.bits / static_cast<double>(std::max<std::int64_t>(count, 1));
  return scores;
}

AlgorithmModel::AlgorithmModel(const ModelFolder& folder, std::int64_t slots) {
  const auto loaded = folder.model<TuringMachine>("run-algorithm", Ability::compute);
  algorithm_ = AlgorithmOptions::read(loaded->options.task);
  if (algorithm_.inputs() != loaded->options.inputs || algorithm_.outputs() != loaded->options.outputs)
    fail<InputError>("run-algorithm", folder.path().string(), ": the sizes of the network do not fit its task: got ",
                     loaded->options.inputs, " inputs and ", loaded->options.outputs, " outputs, expected ",
                     algorithm_.inputs(), " and ", algorithm_.outputs());
  model_ = loaded;
  if (slots <= 0 || slots == loaded->options.slots) return;
  if (loaded->options.memory == MachineMemory::none)
    fail<InputError>("run-algorithm", folder.path().string(), ": this network has no memory, so it has no slots");
  auto resized = std::make_shared<TuringMachine>(*loaded);
  resized->options.slots = slots;
  check_memory(resized->options.sizes());
  model_ = resized;
}

AlgorithmScores AlgorithmModel::evaluate(const AlgorithmOptions& options, std::int64_t count,
                                         std::uint64_t seed) const {
  const AlgorithmScores scores = evaluate_algorithm(*model_, options, count, seed);
  if (!std::isfinite(scores.bits_per_sequence)) fail_not_finite("run-algorithm");
  return scores;
}

AlgorithmRun run_algorithm(const TuringMachine& model, const AlgorithmSequence& sequence) {
  const NoGrad no_grad;
  const AlgorithmBatch batch = batch_of({&sequence, 1});
  Probe probe;
  const Tensor logits = model(batch.input, &probe);
  check_finite("run-algorithm", logits.span());
  Count count;
  count.add(logits.data(), batch.target.data<std::int32_t>(), logits.numel());
  AlgorithmRun run{.sequence = sequence,
                   .output = {},
                   .targets = count.targets,
                   .wrong = count.wrong,
                   .bits = count.bits,
                   .heads = {}};
  for (const float logit : logits.span()) run.output.push_back(1.f / (1.f + std::exp(-logit)));
  for (const Probe::Record& record : probe.records()) {
    const std::int64_t heads = record.weights.dim(1), steps = record.weights.dim(2), slots = record.weights.dim(3);
    for (std::int64_t h = 0; h < heads; ++h) {
      const float* const first = record.weights.data() + h * steps * slots;
      run.heads.push_back({record.layer + " " + std::to_string(h + 1), steps, slots, {first, first + steps * slots}});
    }
  }
  return run;
}

}  // namespace attend
