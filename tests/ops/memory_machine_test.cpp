// memory_machine(): each test runs for both memories and both controllers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attend/core/threads.h"
#include "attend/ops/memory_machine.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using kernels::Controller;
using kernels::MemoryKind;
using kernels::MemorySizes;
using test::normal;
using test::Tensors;

struct Kind {
  const char* name;
  Controller controller;
  MemorySizes memory;
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

constexpr MemorySizes kNtm{.slots = 9, .width = 5, .read_heads = 2, .write_heads = 1};
constexpr MemorySizes kManyHeads{.slots = 17, .width = 3, .read_heads = 1, .write_heads = 3, .shifts = 5};
constexpr MemorySizes kAddress{.slots = 9, .width = 6, .read_heads = 2, .write_heads = 2, .shifts = 1, .address = 3};
constexpr MemorySizes kDnc{.kind = MemoryKind::dnc, .slots = 9, .width = 5, .read_heads = 2};

class MemoryMachine : public testing::TestWithParam<Kind> {
 protected:
  Kind kind = GetParam();

  /// x and the five parameters.
  Tensors inputs(std::int64_t batch, std::int64_t steps, std::int64_t in, std::int64_t hidden) const {
    const kernels::MachineShape shape{
        .controller = kind.controller, .memory = kind.memory, .batch = batch, .steps = steps, .hidden = hidden};
    const std::int64_t P = kernels::interface_size(kind.memory);
    return {normal({batch, steps, in}, 1),
            normal({shape.gates(), in}, 2, 0.5f),
            normal({shape.gates(), shape.recurrent()}, 3, 0.5f),
            normal({shape.gates()}, 4, 0.5f),
            normal({P, hidden}, 5, 0.8f),
            normal({P}, 6, 0.8f)};
  }
  MachineResult run(const Tensors& in, bool weights = false) const {
    return memory_machine(in[0], {in[1], in[2], in[3], in[4], in[5]},
                          {.controller = kind.controller, .memory = kind.memory, .weights = weights});
  }
};

std::vector<Kind> kinds() {
  return {{"ntm_lstm", Controller::lstm, kNtm},
          {"ntm_feed_forward", Controller::feed_forward, kNtm},
          {"ntm_many_write_heads", Controller::lstm, kManyHeads},
          {"ntm_address", Controller::lstm, kAddress},
          {"dnc_lstm", Controller::lstm, kDnc},
          {"dnc_feed_forward", Controller::feed_forward, kDnc}};
}
INSTANTIATE_TEST_SUITE_P(Machines, MemoryMachine, testing::ValuesIn(kinds()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(MemoryMachine, GradientsAgreeWithFiniteDifferences) {
  test::expect_gradients([&](const Tensors& in) { return Tensors{run(in).states}; }, inputs(2, 4, 3, 4),
                         {.step = 1e-2f, .tolerance = 5e-3f});
}

TEST_P(MemoryMachine, WithoutGradientsTheResultsAreTheSame) {
  const Tensors in = inputs(3, 6, 3, 7);
  const Tensor plain = run(in).states;
  Tensors leaves;
  for (const Tensor& one : in) leaves.push_back(one.detach()), require_grad(leaves.back());
  const Tensor kept = run(leaves).states;
  EXPECT_EQ(std::memcmp(plain.raw(), kept.raw(), plain.bytes()), 0);
}

TEST_P(MemoryMachine, TheResultsDoNotDependOnTheNumberOfThreadsOrTheBatch) {
  const Tensors in = inputs(5, 6, 3, 40);
  const int before = threads();
  set_threads(1);
  const Tensor one = run(in).states;
  set_threads(2);
  const Tensor two = run(in).states;
  set_threads(before);
  EXPECT_EQ(std::memcmp(one.raw(), two.raw(), one.bytes()), 0);
  Tensors alone = in;
  alone[0] = in[0].view_rows(3, 4);
  const Tensor third = run(alone).states;
  EXPECT_EQ(std::memcmp(third.raw(), one.view_rows(3, 4).raw(), third.bytes()), 0);
}

TEST_P(MemoryMachine, TheWeightsOfEachHeadAreNonNegativeAndSumToAtMostOne) {
  const MachineResult result = run(inputs(2, 7, 3, 6), true);
  const std::int64_t N = kind.memory.slots;
  EXPECT_EQ(result.read_weights.shape(), (Shape{2, 7, kind.memory.read_heads, N}));
  EXPECT_EQ(result.write_weights.shape(), (Shape{2, 7, kind.memory.write_heads, N}));
  for (const Tensor* weights : {&result.read_weights, &result.write_weights})
    for (std::int64_t row = 0; row < weights->rows(); ++row) {
      double sum = 0;
      for (std::int64_t i = 0; i < N; ++i) {
        EXPECT_GE(weights->data()[row * N + i], 0.f);
        sum += weights->data()[row * N + i];
      }
      if (kind.memory.kind == MemoryKind::ntm) {
        EXPECT_NEAR(sum, 1, 1e-5);
      }
      EXPECT_LE(sum, 1 + 1e-5);
    }
}

TEST_P(MemoryMachine, LargeInputsGiveFiniteResultsAndGradients) {
  Tensors leaves;
  for (const Tensor& one : inputs(2, 12, 3, 6)) {
    Tensor scaled = one.copy();
    for (float& value : scaled.span()) value *= 30;
    leaves.push_back(scaled), require_grad(leaves.back());
  }
  const Tensor y = run(leaves).states;
  EXPECT_TRUE(std::ranges::all_of(y.span(), [](float v) { return std::isfinite(v); }));
  backward(y, Tensor::full(y.shape(), 1.f));
  for (const Tensor& leaf : leaves)
    EXPECT_TRUE(std::ranges::all_of(grad(leaf).span(), [](float v) { return std::isfinite(v); }));
}

TEST_P(MemoryMachine, ShapesThatDoNotFitAreNamed) {
  Tensors in = inputs(2, 3, 3, 4);
  in[2] = normal({4, 3}, 1);
  EXPECT_ERROR(run(in), "[memory_machine] weight_hh does not fit");
}

TEST(CheckMemory, RefusesSizesThatAreOutOfRange) {
  EXPECT_THROW(check_memory({.slots = 0}), InputError);
  EXPECT_ERROR(check_memory({.slots = 0}), "number of slots is out of range: got 0");
  EXPECT_ERROR(check_memory({.read_heads = 17}), "number of read heads is out of range: got 17, expected 1 to 16");
  EXPECT_ERROR(check_memory({.kind = MemoryKind::dnc, .write_heads = 2}), "write heads is out of range: got 2");
  EXPECT_ERROR(check_memory({.kind = MemoryKind::dnc, .address = 2}), "the slots of a DNC have no address: got 2");
  EXPECT_ERROR(check_memory({.width = 4, .address = 4}), "fewer than those of a slot: got 4 of 4");
  EXPECT_ERROR(check_memory({.shifts = 4}), "shifts must be odd");
  EXPECT_ERROR(check_memory({.slots = 3, .shifts = 5}), "at most the number of slots: got 5 and 3 slots");
}

}  // namespace
}  // namespace attend
