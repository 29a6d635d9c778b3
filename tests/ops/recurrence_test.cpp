// recurrence(): each test runs for GRU and LSTM.
#include <gtest/gtest.h>

#include <cstring>

#include "attend/core/threads.h"
#include "attend/ops/recurrence.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;
using test::Tensors;

struct Kind {
  const char* name;
  kernels::Cell cell;

  RecurrentResult run(const Tensor& x, const RecurrentWeights& weights, const RecurrentOptions& options) const {
    return recurrence(name, cell, x, weights, options);
  }
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

class Recurrence : public testing::TestWithParam<Kind> {
 protected:
  Kind kind = GetParam();
  bool lstm_ = kind.cell == kernels::Cell::lstm;

  RecurrentWeights weights(std::int64_t inputs, std::int64_t hidden) const {
    const std::int64_t rows = kernels::gates_of(kind.cell) * hidden;
    const float deviation = 1.f / std::sqrt(static_cast<float>(hidden));
    return {normal({rows, inputs}, 11, deviation), normal({rows, hidden}, 12, deviation), normal({rows}, 13),
            normal({rows}, 14)};
  }
  /// x, the four parameters, h0 and (for an LSTM) c0, as a list for run().
  Tensors inputs(std::int64_t batch, std::int64_t steps, std::int64_t in, std::int64_t hidden) const {
    const RecurrentWeights w = weights(in, hidden);
    Tensors all{normal({batch, steps, in}, 1), w.weight_ih, w.weight_hh, w.bias_ih, w.bias_hh,
                normal({batch, hidden}, 2)};
    if (lstm_) all.push_back(normal({batch, hidden}, 3));
    return all;
  }
  Tensors run(const Tensors& in, RecurrentOptions options = {}) const {
    options.h0 = in[5];
    if (lstm_) options.c0 = in[6];
    const RecurrentResult result = kind.run(in[0], {in[1], in[2], in[3], in[4]}, options);
    return lstm_ ? Tensors{result.y, result.h, result.c} : Tensors{result.y, result.h};
  }
};

std::vector<Kind> kinds() { return {{"gru", kernels::Cell::gru}, {"lstm", kernels::Cell::lstm}}; }
INSTANTIATE_TEST_SUITE_P(Cells, Recurrence, testing::ValuesIn(kinds()),
                         [](const auto& info) { return std::string(info.param.name); });

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

TEST_P(Recurrence, EqualsPyTorchInBothDirectionsForDifferentLengths) {
  const SafetensorsFile file = test::golden("recurrent");
  const auto get = [&](const std::string& key) { return file.get(std::string(kind.name) + "/" + key); };
  const auto leaf = [&](const std::string& key) {
    Tensor tensor = get(key).copy();
    require_grad(tensor);
    return tensor;
  };
  const Tensor x = leaf("x"), y = get("y"), h = get("h");
  const std::int64_t steps = x.dim(1), hidden = h.dim(2), batch = h.dim(1);
  // The half of [B, T, 2H] that belongs to one direction.
  const auto half = [&](const Tensor& both, int direction) {
    Tensor part = Tensor::empty({batch, steps, hidden});
    for (std::int64_t r = 0; r < batch * steps; ++r)
      std::copy_n(both.data() + (2 * r + direction) * hidden, hidden, part.data() + r * hidden);
    return part;
  };
  const auto state = [&](const Tensor& both, int direction) {
    return both.view_rows(direction, direction + 1).reshape({batch, hidden}).copy();
  };
  const test::Tolerance loose{1e-4f, 2e-6f};
  for (const int direction : {0, 1}) {
    const std::string suffix = direction ? "_l0_reverse" : "_l0";
    const RecurrentWeights w{leaf("weight_ih" + suffix), leaf("weight_hh" + suffix), leaf("bias_ih" + suffix),
                             leaf("bias_hh" + suffix)};
    RecurrentOptions options{.h0 = state(get("h0"), direction), .lengths = get("lengths"), .reverse = direction == 1};
    require_grad(options.h0);
    if (lstm_) options.c0 = state(get("c0"), direction), require_grad(options.c0);
    const RecurrentResult result = kind.run(x, w, options);
    EXPECT_TRUE(test::close(result.y, half(y, direction)));
    EXPECT_TRUE(test::close(result.h, state(h, direction)));
    if (lstm_) {
      EXPECT_TRUE(test::close(result.c, state(get("c"), direction)));
    }

    Tensors results{result.y, result.h}, seeds{half(get("seed/y"), direction), state(get("seed/h"), direction)};
    if (lstm_) results.push_back(result.c), seeds.push_back(state(get("seed/c"), direction));
    backward(record("loss", Tensor::scalar(0), results, [&](const Tensor&, Grads& grads) {
      for (std::size_t i = 0; i < seeds.size(); ++i) grads.add(i, seeds[i]);
    }));
    EXPECT_TRUE(test::close(grad(w.weight_ih), get("d/weight_ih" + suffix), loose));
    EXPECT_TRUE(test::close(grad(w.weight_hh), get("d/weight_hh" + suffix), loose));
    EXPECT_TRUE(test::close(grad(w.bias_ih), get("d/bias_ih" + suffix), loose));
    EXPECT_TRUE(test::close(grad(w.bias_hh), get("d/bias_hh" + suffix), loose));
    EXPECT_TRUE(test::close(grad(options.h0), state(get("d/h0"), direction), loose));
    if (lstm_) {
      EXPECT_TRUE(test::close(grad(options.c0), state(get("d/c0"), direction), loose));
    }
  }
  EXPECT_TRUE(test::close(grad(x), get("d/x"), loose));
}

TEST_P(Recurrence, GradientsMatchFiniteDifferences) {
  const Tensor lengths = Tensor::ids({3, 0, 4, 1, 2}, {5});
  for (const bool reverse : {false, true})
    for (const bool cut : {false, true})
      test::expect_gradients(
          [&](const Tensors& in) { return run(in, {.lengths = cut ? lengths : Tensor(), .reverse = reverse}); },
          inputs(5, 4, 3, 7), {.elements = 16});
}

TEST_P(Recurrence, GradientsOfASingleStepMatchFiniteDifferences) {
  test::expect_gradients([&](const Tensors& in) { return run(in); }, inputs(2, 1, 3, 5), {.elements = 16});
}

TEST_P(Recurrence, GradientsAtAWidthOfSeveralPanelsMatchFiniteDifferences) {
  test::expect_gradients([&](const Tensors& in) { return run(in); }, inputs(37, 2, 1, 83), {.elements = 8});
}

TEST_P(Recurrence, ProjectedInputIsAddedAndHasGradients) {
  for (const std::int64_t steps : {1, 3}) {
    Tensors all = inputs(2, steps, 3, 5);
    const auto run_projected = [&](const Tensors& in) { return run(in, {.projected = in.back()}); };
    all.push_back(Tensor::zeros({2, steps, kernels::gates_of(kind.cell) * 5}));
    EXPECT_TRUE(test::close(run_projected(all)[0], run(all)[0]));
    all.back() = normal({2, steps, kernels::gates_of(kind.cell) * 5}, 4);
    test::expect_gradients(run_projected, all, {.elements = 16});
  }
}

TEST_P(Recurrence, StepsOneByOneEqualTheWholeSequence) {
  const Tensors in = inputs(3, 6, 4, 19);
  const Tensors whole = run(in);
  Tensors step = in;
  for (std::int64_t t = 0; t < 6; ++t) {
    step[0] = Tensor::empty({3, 1, 4});
    for (std::int64_t b = 0; b < 3; ++b) std::copy_n(in[0].data() + (b * 6 + t) * 4, 4, step[0].data() + b * 4);
    const Tensors result = run(step);
    step[5] = result[1];
    if (lstm_) step[6] = result[2];
  }
  EXPECT_TRUE(test::close(step[5], whole[1]));
  if (lstm_) {
    EXPECT_TRUE(test::close(step[6], whole[2]));
  }
}

TEST_P(Recurrence, ASequenceAloneEqualsTheSameInAPaddedBatch) {
  const Tensors in = inputs(4, 9, 5, 21);
  const Tensor lengths = Tensor::ids({9, 4, 0, 7}, {4});
  for (const bool reverse : {false, true}) {
    const Tensors all = run(in, {.lengths = lengths, .reverse = reverse});
    for (std::int64_t b = 0; b < 4; ++b) {
      const std::int64_t length = lengths.data<std::int32_t>()[b];
      Tensors one = in;
      one[0] = in[0].view_rows(b, b + 1).reshape({9, 5}).view_rows(0, length).reshape({1, length, 5});
      for (std::size_t i = 5; i < one.size(); ++i) one[i] = in[i].view_rows(b, b + 1);
      const Tensors alone = run(one, {.reverse = reverse});
      const Tensor rows = all[0].view_rows(b, b + 1).reshape({9, 21});
      EXPECT_TRUE(test::close(rows.view_rows(0, length).reshape({1, length, 21}), alone[0]));
      EXPECT_TRUE(test::close(rows.view_rows(length, 9), Tensor::zeros({9 - length, 21})));
      for (std::size_t i = 1; i < all.size(); ++i) EXPECT_TRUE(test::close(all[i].view_rows(b, b + 1), alone[i]));
    }
  }
}

TEST_P(Recurrence, NothingIsKeptWithoutGradients) {
  const Tensors in = inputs(8, 32, 16, 64);
  NoGrad no_grad;
  const Tensors warm = run(in);
  reset_peak_memory();
  const std::size_t before = memory_use().current;
  const Tensors result = run(in);
  // The results, the projections and the packed weight. Kept gates would need more.
  const std::size_t projections = sizeof(float) * static_cast<std::size_t>(8 * 32 * 64 * kernels::gates_of(kind.cell));
  EXPECT_LT(memory_use().peak - before, 2 * projections);
  EXPECT_TRUE(same_bits(result[0], warm[0]));
}

TEST_P(Recurrence, OneThreadEqualsTwo) {
  const Tensors in = inputs(67, 5, 12, 40);
  const Tensor lengths = test::random_ids({67}, 6);
  const auto results = [&](int count) {
    set_threads(count);
    const test::Gradients all = test::gradients_of([&](const Tensors& x) { return run(x, {.lengths = lengths}); }, in);
    Tensors list = all.results;
    list.insert(list.end(), all.inputs.begin(), all.inputs.end());
    return list;
  };
  const int before = threads();
  const Tensors one = results(1), two = results(2);
  set_threads(before);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], two[i])) << "result or gradient " << i;
}

TEST_P(Recurrence, EmptyBatchesAndSequencesWork) {
  for (const Shape& shape : {Shape{0, 3, 2}, Shape{2, 0, 2}}) {
    const Tensors in = inputs(shape[0], shape[1], 2, 4);
    const test::Gradients all = test::gradients_of([&](const Tensors& x) { return run(x); }, in);
    EXPECT_EQ(all.results[0].shape(), (Shape{shape[0], shape[1], 4}));
    EXPECT_TRUE(test::close(all.results[1], in[5]));  // without steps, the last state is the initial one
    EXPECT_TRUE(test::close(all.inputs[2], Tensor::zeros(in[2].shape())));
  }
}

TEST_P(Recurrence, WrongShapesAreReported) {
  const Tensors good = inputs(2, 3, 4, 5);
  const RecurrentWeights w{good[1], good[2], good[3], good[4]};
  const std::string op = std::string("[") + kind.name + "]";
  const Tensor x = good[0];
  EXPECT_ERROR(kind.run(Tensor::zeros({2, 4}), w, {}), op);
  EXPECT_ERROR(kind.run(Tensor::zeros({2, 4}), w, {}), "[2, 4]");
  EXPECT_ERROR(kind.run(Tensor::zeros({2, 3, 6}), w, {}), "[2, 3, 6]");
  EXPECT_ERROR(kind.run(x, {w.weight_ih, Tensor::zeros({5, 5}), {}, {}}, {}), "[5, 5]");
  EXPECT_ERROR(kind.run(x, {w.weight_ih, w.weight_hh, w.bias_ih, {}}, {}), "together");
  EXPECT_ERROR(kind.run(x, w, {.h0 = Tensor::zeros({3, 5})}), "h0 does not fit: got [3, 5], expected [2, 5]");
  EXPECT_ERROR(kind.run(x, w, {.lengths = Tensor::ids({1, 4}, {2})}), "got 4, expected 0 to 3");
  EXPECT_ERROR(kind.run(x, w, {.lengths = Tensor::ids({-1, 3}, {2})}), "got -1");
}

TEST(Gru, RefusesACellState) {
  const RecurrentWeights w{Tensor::zeros({6, 2}), Tensor::zeros({6, 2}), {}, {}};
  EXPECT_ERROR(recurrence("gru", kernels::Cell::gru, Tensor::zeros({1, 1, 2}), w, {.c0 = Tensor::zeros({1, 2})}),
               "[gru]");
}

}  // namespace
}  // namespace attend
