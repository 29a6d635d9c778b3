#include "attend/train/memory.h"

#include <gtest/gtest.h>

#include "attend/core/memory.h"
#include "attend/models/causal_lm.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/recompute.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

TEST(TrainingMemory, TheEstimateOfABatchIsCloseToWhatItTakes) {
  CausalLm model({.vocabulary = 500, .positions = 128, .width = 64, .layers = 6, .heads = 4});
  train_parameters(model);
  std::vector<std::int32_t> some(4 * 128, 7);
  for (const bool again : {false, true}) {
    const std::size_t before = memory_use().current;
    reset_peak_memory();
    const Training training;
    const Recompute recompute(again);
    const Tensor logits = model(Tensor::ids(some, {4, 128}));
    const Tensor loss = cross_entropy(logits.reshape({-1, 500}), Tensor::ids(some, {4 * 128}));
    backward(loss);
    std::size_t gradients = 0;
    for (const NamedTensor& one : parameters(model)) gradients += one.tensor.bytes(), zero_grad(one.tensor);
    const auto taken = static_cast<double>(memory_use().peak - before),
               estimate = static_cast<double>(activation_bytes(model, 4 * 128, 500, again));
    EXPECT_GT(estimate, 0.7 * (taken - static_cast<double>(gradients))) << again;
    EXPECT_LT(estimate, 1.5 * taken) << again;
  }
}

TEST(TrainingMemory, ARunThatDoesNotFitIsRefusedWithTheFlagsThatHelp) {
  Tensor weight = Tensor::zeros({1000, 1000});
  const TrainingMemory memory = training_memory({{"w", weight}, {"tied", weight}}, true, 5'000'000);
  EXPECT_EQ(memory.parameters, 4'000'000);
  EXPECT_EQ(memory.needed(), 4'000'000 + 12'000'000 + 5'000'000);
  check_memory(memory, 21'000'000);
  check_memory(memory, 0);
  EXPECT_ERROR(check_memory(memory, 20'999'999), "--lora 8");
  EXPECT_ERROR(check_memory(memory, 20'999'999), "4.0 MB of parameters to train");
}

}  // namespace
}  // namespace attend
