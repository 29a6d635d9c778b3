// Neural Turing Machine, Differentiable Neural Computer and LSTM against PyTorch (tests/golden/turing_machine.py), and
// their folders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/models/registry.h"
#include "attend/models/turing_machine.h"
#include "attend/ops/concat.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/tape.h"
#include "attend/train/clip.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

struct Kind {
  const char* name;
  TuringMachineOptions options;
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

TuringMachineOptions sizes(MachineMemory memory, kernels::Controller controller, std::int64_t slots, std::int64_t width,
                           std::int64_t reads, std::int64_t writes, std::int64_t address = 0) {
  return {.inputs = 4,
          .outputs = 3,
          .memory = memory,
          .controller = controller,
          .hidden = 6,
          .layers = memory == MachineMemory::none ? 2 : 1,
          .slots = slots,
          .width = width,
          .read_heads = reads,
          .write_heads = writes,
          .address = address};
}

std::vector<Kind> kinds() {
  using enum MachineMemory;
  using enum kernels::Controller;
  return {{"ntm_lstm", sizes(ntm, lstm, 9, 5, 2, 1)}, {"ntm_feed_forward", sizes(ntm, feed_forward, 16, 4, 1, 2)},
          {"dnc_lstm", sizes(dnc, lstm, 9, 5, 2, 1)}, {"dnc_feed_forward", sizes(dnc, feed_forward, 8, 4, 1, 1)},
          {"lstm", sizes(none, lstm, 128, 20, 1, 1)}, {"ntm_address", sizes(ntm, lstm, 9, 7, 2, 2, 5)}};
}

class TuringMachineTest : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Machines, TuringMachineTest, testing::ValuesIn(kinds()),
                         [](const auto& info) { return std::string(info.param.name); });

Tensor mean_loss(const Tensor& logits, const Tensor& target) {
  const Tensor one = logits.reshape({logits.numel(), 1});
  return cross_entropy(concat({Tensor::zeros(one.shape()), one}, 1), target.reshape({target.numel()}));
}

/// Slots of a DNC that were never used are alike, and rounding decides which of them is allocated first. So its weights
/// are compared without the order of the slots.
void sort_rows(const Tensor& weights) {
  const std::int64_t N = weights.dim(-1);
  for (std::int64_t row = 0; row < weights.rows(); ++row)
    std::sort(weights.data() + row * N, weights.data() + (row + 1) * N);
}

TEST_P(TuringMachineTest, OutputsGradientsAndTenOptimiserStepsAreThoseOfPyTorch) {
  const SafetensorsFile file = test::golden("turing_machine");
  const std::string prefix = std::string(GetParam().name) + "/";
  TuringMachine model(GetParam().options);
  train_parameters(model);
  for (const NamedTensor& one : parameters(model)) {
    const Tensor stored = file.get(prefix + "start/" + one.name);
    ASSERT_EQ(stored.shape(), one.tensor.shape()) << one.name;
    std::ranges::copy(stored.span(), one.tensor.data());
  }
  const Tensor x = file.get("x"), target = file.get("target");
  Probe probe;
  {
    const NoGrad no_grad;
    EXPECT_TRUE(test::close(model(x, &probe), file.get(prefix + "logits"), {1e-4f, 1e-5f}));
  }
  if (const MachineMemory memory = GetParam().options.memory; memory != MachineMemory::none) {
    ASSERT_EQ(probe.records().size(), 2U);
    for (const std::size_t i : {0, 1}) {
      const Tensor got = probe.records()[i].weights, expected = file.get(prefix + (i == 0 ? "write" : "read")).copy();
      if (memory == MachineMemory::dnc) sort_rows(got), sort_rows(expected);
      EXPECT_TRUE(test::close(got, expected, {1e-4f, 1e-5f}));
    }
  }
  Adam optimizer(parameters(model), {.learning_rate = 1e-2});
  for (int step = 0; step < 10; ++step) {
    const Tensor loss = mean_loss(model(x), target);
    backward(loss);
    if (step == 0) {
      EXPECT_NEAR(loss.item(), file.get(prefix + "loss").item(), 1e-5);
      for (const NamedTensor& one : parameters(model))
        EXPECT_TRUE(test::close(grad(one.tensor), file.get(prefix + "grad/" + one.name), {2e-3f, 2e-6f})) << one.name;
    }
    if (step == 9) {
      EXPECT_NEAR(loss.item(), file.get(prefix + "end_loss").item(), 1e-4);
    }
    optimizer.step({.gradient_scale = clip_scale(grad_norm(optimizer.parameters()), 0.1)});
    optimizer.zero_grad();
  }
  for (const NamedTensor& one : parameters(model))
    EXPECT_TRUE(test::close(one.tensor, file.get(prefix + "end/" + one.name), {2e-3f, 1e-3f})) << one.name;
}

TEST_P(TuringMachineTest, AFolderGivesTheSameModel) {
  const test::TempFolder folder;
  TuringMachine model(GetParam().options);
  model.save(folder.path());
  const ModelFolder opened(folder.path());
  EXPECT_TRUE(opened.can(Ability::compute));
  const auto loaded = opened.model<TuringMachine>("test", Ability::compute);
  const Tensor x = test::golden("turing_machine").get("x");
  const NoGrad no_grad;
  EXPECT_TRUE(test::close(model(x), (*loaded)(x), {0, 0}));
}

TEST(TuringMachine, TheHeadsOfANewNetworkStartWithTheBiasesOfItsOptions) {
  TuringMachineOptions options = kinds()[1].options;  // 1 read head, 2 write heads
  Generator one(7), two(7);
  const TuringMachine plain(options, one);
  options.biases = {
      .read_gate = -1.f, .write_gate = -7.f, .strength = 5.f, .write_shift = 2.f, .sharpness = 3.f, .erase = -4.f};
  const TuringMachine biased(options, two);
  const std::int64_t W = options.width, head = W + 3 + options.shifts;
  std::vector<float> expected(plain.machine.interface_bias.span().begin(), plain.machine.interface_bias.span().end());
  for (std::int64_t h = 0; h < 3; ++h) {
    float* const scalars = expected.data() + h * head + W;
    scalars[0] += 5.f, scalars[1] += h == 0 ? -1.f : -7.f, scalars[2] += 3.f;
    if (h > 0) scalars[5] += 2.f;  // of the shifts -1, 0 and 1
  }
  for (std::int64_t h = 0; h < 2; ++h)  // erase [W], then add [W]
    for (std::int64_t m = 0; m < W; ++m) expected[static_cast<std::size_t>(3 * head + 2 * h * W + m)] -= 4.f;
  const auto got = biased.machine.interface_bias.span();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(got[i], expected[i]) << i;
}

TEST(TuringMachine, TheUnitsOfANewFeedForwardControllerAreNotOddFunctionsOfTheInput) {
  TuringMachineOptions options = kinds()[1].options;
  options.hidden = 64;
  const TuringMachine model(options);
  const NoGrad no_grad;
  const auto units = [&](float sign) {
    const Tensor x = Tensor::empty({1, 1, options.inputs});
    x.fill(sign);
    return memory_machine(x, model.machine, {.controller = options.controller, .memory = options.sizes()}).states;
  };
  const Tensor up = units(1.f), down = units(-1.f);
  float even = 0;
  for (std::int64_t i = 0; i < options.hidden; ++i) even += std::abs(up.data()[i] + down.data()[i]);
  EXPECT_GT(even / static_cast<float>(options.hidden), 0.3f);
}

TEST(TuringMachine, SizesThatDoNotFitAreInputErrors) {
  using enum MachineMemory;
  using enum kernels::Controller;
  EXPECT_THROW(TuringMachine(sizes(dnc, lstm, 9, 5, 1, 2)), InputError);
  EXPECT_THROW(TuringMachine(sizes(ntm, lstm, 2, 5, 1, 1)), InputError);
  EXPECT_ERROR(TuringMachine(sizes(none, feed_forward, 9, 5, 1, 1)), "a network without a memory needs an LSTM");
}

TEST(TuringMachine, AConfigurationWithWrongSizesIsRefusedBeforeMemoryIsAllocated) {
  const test::TempFolder folder;
  TuringMachine(kinds()[0].options).save(folder.path());
  Config config(folder.path() / "config.json");
  config.set("hidden", 60'000);
  config.save(folder.path() / "config.json");
  EXPECT_ERROR(ModelFolder(folder.path()).model(), "do the two files belong together?");
  config.set("hidden", 6);
  config.set("slots", 0);
  config.save(folder.path() / "config.json");
  EXPECT_ERROR(ModelFolder(folder.path()).model(), "slots");
}

TEST(TuringMachine, AConfigurationWithoutAnAddressHasNone) {
  const test::TempFolder folder;
  TuringMachine(kinds()[0].options).save(folder.path());
  Config config(folder.path() / "config.json"), older;
  for (const char* key : {"model_type", "memory", "controller"}) older.set(key, config.text(key));
  for (const char* key :
       {"inputs", "outputs", "hidden", "layers", "slots", "width", "read_heads", "write_heads", "shifts"})
    older.set(key, config.integer(key));
  older.save(folder.path() / "config.json");
  EXPECT_EQ(ModelFolder(folder.path()).model<TuringMachine>("test", Ability::compute)->options.address, 0);
}

TEST(TuringMachine, OtherTasksRefuseIt) {
  const test::TempFolder folder;
  TuringMachine(kinds()[0].options).save(folder.path());
  EXPECT_ERROR(ModelFolder(folder.path()).require("classify", Ability::classify),
               "holds a model of type \"attend-turing-machine\", expected a classifier");
}

}  // namespace
}  // namespace attend
