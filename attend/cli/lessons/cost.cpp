// What a layer costs as the sequence grows: convolution, recurrence and self-attention, measured here and now.
#include <chrono>
#include <functional>

#include "attend/cli/lessons/lesson.h"
#include "attend/core/memory.h"
#include "attend/nn/convolution.h"
#include "attend/nn/recurrent.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/attention.h"
#include "attend/ops/matmul.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"

namespace attend::cli {
namespace {

constexpr std::int64_t kWidth = 64, kKernel = 3;

struct Cost {
  double milliseconds;
  double megabytes;
};

/// The best of several runs: the others were disturbed.
Cost measure(const std::function<Tensor()>& run) {
  run();  // the first pays for what is made once
  Cost best{1e9, 0};
  double spent = 0;
  for (int i = 0; i < 3 || (spent < 60 && i < 50); ++i) {
    const std::size_t before = memory_use().current;
    reset_peak_memory();
    const auto begin = std::chrono::steady_clock::now();
    run();
    const double taken = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    best.milliseconds = std::min(best.milliseconds, taken), spent += taken;
    best.megabytes = static_cast<double>(memory_use().peak - before) / 1e6;
  }
  return best;
}

Page give() {
  const NoGrad no_grad;
  Generator generator(2017);
  const Conv1d convolution(kWidth, kWidth, kKernel, {.padding = 1}, generator);
  const Gru recurrence({.input = kWidth, .hidden = kWidth}, generator);
  struct Layer {
    const char* name;
    std::function<Tensor(const Tensor&)> run;  // x [1, n, d]
    Series time{"", {}, {}}, memory{"", {}, {}};
  };
  std::vector<Layer> layers;
  layers.push_back({"convolution", [&](const Tensor& x) { return convolution(x.reshape({1, kWidth, -1})); }});
  layers.push_back({"recurrence", [&](const Tensor& x) { return recurrence(x).y; }});
  layers.push_back({"self-attention, fused", [](const Tensor& x) {
                      const Tensor heads = x.reshape({1, -1, 1, kWidth});
                      return attention(heads, heads, heads);
                    }});
  layers.push_back({"self-attention, materialised", [](const Tensor& x) {
                      return matmul(softmax(matmul(x, x, {.transpose_b = true}) * (1.f / 8)), x);
                    }});

  Table table{{"n"}, {}};
  for (const Layer& layer : layers) table.header.emplace_back(std::string(layer.name) + ", ms");
  for (std::int64_t n = 64; n <= 4096; n *= 2) {
    Tensor x = Tensor::empty({1, n, kWidth});
    fill_normal(x, 0, 1, generator);
    std::vector<std::string> row{std::to_string(n)};
    for (Layer& layer : layers) {
      const Cost cost = measure([&] { return layer.run(x); });
      layer.time.x.push_back(static_cast<float>(n)), layer.time.y.push_back(static_cast<float>(cost.milliseconds));
      layer.memory.x.push_back(static_cast<float>(n)), layer.memory.y.push_back(static_cast<float>(cost.megabytes));
      row.push_back(fixed(cost.milliseconds, 3));
    }
    table.rows.push_back(std::move(row));
  }

  Page page{"Cost: convolution, recurrence and self-attention as sequences grow", {}};
  page.say(
      "A layer over n words, d = 64 numbers each, forward, on this machine. The textbook counts operations, the steps "
      "that must follow each other, and the longest path between two words (Vaswani et al. 2017, table 1).");
  page.show(Table{{"layer", "operations", "steps in sequence", "longest path"},
                  {{"convolution, kernel k", "O(k n d²)", "O(1)", "O(n/k)"},
                   {"recurrence", "O(n d²)", "O(n)", "O(n)"},
                   {"self-attention", "O(n² d)", "O(1)", "O(1)"}}});
  page.show(table);
  LinePlot time{"time", "n", "ms", {}, true, true}, memory{"memory", "n", "MB", {}, true, true};
  for (Layer& layer : layers) {
    layer.time.name = layer.memory.name = layer.name;
    time.series.push_back(layer.time), memory.series.push_back(layer.memory);
  }
  page.show(Figure{"Both axes are logarithmic: a slope of 1 is linear, of 2 quadratic.", {time, memory}});
  page.say(
      "Self-attention is quadratic in time, and in memory too when the n × n weights are written down. The fused "
      "kernel "
      "goes over tiles of them and keeps none, so its memory grows with n alone. Recurrence is linear, but each step "
      "waits for the one before.");
  return page;
}

const Enlist kEnlisted({"cost", "convolution, recurrence and self-attention measured as n grows", give});

}  // namespace
}  // namespace attend::cli
