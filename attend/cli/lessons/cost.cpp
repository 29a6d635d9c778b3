// Time and memory of convolution, recurrence and self-attention as the sequence grows, measured on this machine.
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

namespace attend::cli::cost_lesson {
namespace {

constexpr std::int64_t kWidth = 64, kKernel = 3;

struct Cost {
  double milliseconds;
  double megabytes;
};

/// The fastest of several runs: the others were disturbed by other programs.
Cost measure(const std::function<Tensor()>& run) {
  run();  // the first run also prepares what is made only once
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
      "The forward pass of one layer over n tokens of width d = 64. In theory (Vaswani et al. 2017, table 1), layers "
      "differ in the number of operations, in the number of steps that must run one after the other, and in the "
      "longest path between two tokens:");
  page.show(Table{{"layer", "operations", "steps in sequence", "longest path"},
                  {{"convolution, kernel k", "O(k n d²)", "O(1)", "O(n/k)"},
                   {"recurrence", "O(n d²)", "O(n)", "O(n)"},
                   {"self-attention", "O(n² d)", "O(1)", "O(1)"}}});
  page.say("Measured on this machine, in milliseconds:");
  page.show(table);
  LinePlot time{"time", "n", "ms", {}, true, true}, memory{"memory", "n", "MB", {}, true, true};
  for (Layer& layer : layers) {
    layer.time.name = layer.memory.name = layer.name;
    time.series.push_back(layer.time), memory.series.push_back(layer.memory);
  }
  page.show(Figure{"Both axes are logarithmic: a slope of 1 is linear, of 2 quadratic.", {time, memory}});
  // From half of the longest sequence to the longest one.
  const auto growth = [](const Series& series) { return fixed(series.y.back() / series.y[series.y.size() - 2], 1); };
  page.say(
      "When n doubles, linear cost doubles and quadratic cost grows by a factor of 4. In the last row of the table, "
      "the time of fused self-attention grew by a factor of " +
      growth(layers[2].time) + ", its memory by " + growth(layers[2].memory) +
      "; with materialised weights, time grew by " + growth(layers[3].time) + " and memory by " +
      growth(layers[3].memory) +
      ". The fused kernel computes the n × n weights tile by tile and does not store them, so its memory is linear. "
      "Recurrence has linear time (factor " +
      growth(layers[1].time) + "), but each step must wait for the one before.");
  return page;
}

const Enlist kEnlisted({"cost", "convolution, recurrence and self-attention measured as n grows", give});

}  // namespace
}  // namespace attend::cli::cost_lesson
