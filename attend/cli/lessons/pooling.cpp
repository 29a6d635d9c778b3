// Nadaraya–Watson regression (1964): attention before it had the name. The estimate at a query is an average of all
// values, each weighted by how near its key is; how near is near can be learned.
#include <algorithm>
#include <cmath>

#include "attend/attention/pooling.h"
#include "attend/cli/lessons/lesson.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/reduce.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"

namespace attend::cli {
namespace {

constexpr std::int64_t kPoints = 50;
constexpr float kEnd = 5.f;

float truth(float x) { return 2 * std::sin(x) + std::pow(x, 0.8f); }

/// Points in the order of x, with noise in y.
struct Points {
  Tensor x = Tensor::empty({kPoints}), y = Tensor::empty({kPoints});

  explicit Points(Generator& generator) {
    fill_uniform(x, 0, kEnd, generator);
    fill_normal(y, 0, 0.5f, generator);
    std::ranges::sort(x.span());
    for (std::int64_t i = 0; i < kPoints; ++i) y.data()[i] += truth(x.data()[i]);
  }
};

/// The width that predicts each training point best from all the others: one that might look at itself would look
/// nowhere else.
Gaussian learn_width(const Points& training, LinePlot& curve) {
  std::vector<std::int8_t> others(kPoints * kPoints, 1);
  for (std::size_t i = 0; i < kPoints; ++i) others[i * kPoints + i] = 0;
  const Mask mask = Mask::allowed(Tensor::from(std::span<const std::int8_t>(others), {kPoints, kPoints}));
  Gaussian kernel;
  require_grad(kernel.inverse_width);
  Adam adam(parameters(kernel), {.learning_rate = 0.1});
  Series width{"width σ", {}, {}}, error{"error on the left-out point", {}, {}};
  for (int step = 0; step <= 80; ++step) {
    const Tensor loss =
        mean(square(nadaraya_watson(kernel, training.x, training.x, training.y, {.mask = mask}) - training.y));
    width.x.push_back(static_cast<float>(step)), width.y.push_back(1 / kernel.inverse_width.item());
    error.x.push_back(static_cast<float>(step)), error.y.push_back(loss.item());
    backward(loss);
    adam.step();
    adam.zero_grad();
  }
  curve = {"learning the width", "step", "", {std::move(width), std::move(error)}};
  return {kernel.inverse_width.detach()};
}

Page give() {
  Generator generator(1964);
  const Points training(generator), held_out(generator);
  Tensor grid = Tensor::empty({kPoints});
  for (std::int64_t i = 0; i < kPoints; ++i) grid.data()[i] = kEnd * static_cast<float>(i) / kPoints;

  Page page{"Attention pooling: Nadaraya–Watson regression", {}};
  page.say(
      "A query x asks all 50 training points; each answers with its value, weighted by a softmax over scores. With "
      "equal "
      "scores the answer is the mean of everything. With the score -½((x - xᵢ)/σ)² near points count more: a Gaussian "
      "kernel of width σ. With σ learned by gradient descent, attention has a parameter.");

  LinePlot curve;
  struct Fit {
    const char* name;
    Score kernel;
  };
  const std::vector<Fit> fits = {
      {"average", Uniform()}, {"Gaussian, σ = 1", Gaussian()}, {"Gaussian, σ learned", learn_width(training, curve)}};
  const NoGrad no_grad;
  LinePlot plot{"the fits", "x", "y", {}};
  Series truth_line{"truth", grid.to_vector(), {}, Series::Mark::dashed};
  for (const float x : grid.span()) truth_line.y.push_back(truth(x));
  plot.series.push_back({"training points", training.x.to_vector(), training.y.to_vector(), Series::Mark::points});
  plot.series.push_back(std::move(truth_line));
  Table table{{"pooling", "error on held-out points"}, {}};
  Figure weights{"A row a query, a column a training point, both in the order of x.", {}};
  for (const Fit& fit : fits) {
    Probe probe;
    const Tensor estimate = nadaraya_watson(fit.kernel, grid, training.x, training.y, {.probe = &probe});
    plot.series.push_back({fit.name, grid.to_vector(), estimate.to_vector()});
    weights.panels.emplace_back(
        HeatMap{fit.name, "training point", "query", kPoints, kPoints, probe.records().front().weights.to_vector()});
    const Tensor guess = nadaraya_watson(fit.kernel, held_out.x, training.x, training.y);
    table.rows.push_back({fit.name, fixed(mean(square(guess - held_out.y)).item(), 3)});
  }
  page.show(table);
  page.say("The noise alone has an error of 0.250: nothing can do better on average.");
  page.show(Figure{"", {std::move(plot), std::move(curve)}});
  page.heading("What each query attends to");
  page.show(std::move(weights));
  return page;
}

const Enlist kEnlisted({"pooling", "Nadaraya–Watson regression: average, Gaussian kernel, learned width", give});

}  // namespace
}  // namespace attend::cli
