// Training steps of language models: full ones, and those of adapters.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "attend/core/memory.h"
#include "attend/core/random.h"
#include "attend/models/adapter.h"
#include "attend/models/causal_lm.h"
#include "attend/nn/module.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/recompute.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "bench/job.h"

namespace attend::bench {

inline std::vector<std::int32_t> random_ids(std::int64_t count, std::int64_t vocabulary) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<std::int32_t>(philox({1, 2}, i)[0] % static_cast<std::uint32_t>(vocabulary));
  return ids;
}

/// A training step on B texts of T tokens.
inline Run step(const CausalLmOptions& options, std::int64_t B, std::int64_t T) {
  auto model = std::make_shared<CausalLm>(options);
  train_parameters(*model);
  auto adam = std::make_shared<AdamW>(parameters(*model), AdamWOptions{.learning_rate = 3e-4});
  const Tensor ids = Tensor::ids(random_ids(B * T, options.vocabulary), {B, T});
  return [=] {
    const Training training;
    backward(cross_entropy((*model)(ids), ids));
    adam->step();
    adam->zero_grad();
  };
}

/// The same with adapters of rank 8 on the layers that PEFT adapts by default; everything else is frozen.
inline Run lora_step(const CausalLmOptions& options, std::int64_t B, std::int64_t T, bool recomputed = false) {
  auto model = std::make_shared<CausalLm>(options);
  Generator generator(1);
  auto adam = std::make_shared<AdamW>(train_adapters(*model, AdapterInfo::of({.rank = 8}, "", ""), generator),
                                      AdamWOptions{.learning_rate = 3e-4});
  const Tensor ids = Tensor::ids(random_ids(B * T, options.vocabulary), {B, T});
  return [=] {
    const Training training;
    const Recompute recompute(recomputed);
    backward(cross_entropy((*model)(ids), ids));
    adam->step();
    adam->zero_grad();
  };
}

inline double best_step(const Run& run) { return best_seconds(run, 5.); }

/// The peak memory of tensors. Unlike the resident memory, it does not depend on what the process did before.
inline double peak_of_steps(const std::function<Run()>& setup) {
  const std::size_t before = memory_use().current;
  reset_peak_memory();
  const Run once = setup();
  for (int i = 0; i < 3; ++i) once();
  return static_cast<double>(memory_use().peak - before);
}

/// The time of a full step divided by that of a step of adapters.
inline double lora_speed(const CausalLmOptions& options, std::int64_t B, std::int64_t T) {
  const double adapters = best_step(lora_step(options, B, T));
  release_cached_memory();
  return best_step(step(options, B, T)) / adapters;
}

/// The peak memory of steps of adapters, in percent of that of full steps.
inline double lora_memory(const CausalLmOptions& options, std::int64_t B, std::int64_t T, bool recomputed = false) {
  const double adapters = peak_of_steps([&] { return lora_step(options, B, T, recomputed); });
  return 100 * adapters / peak_of_steps([&] { return step(options, B, T); });
}

}  // namespace attend::bench
