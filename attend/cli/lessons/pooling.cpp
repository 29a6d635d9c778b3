// Nadaraya–Watson regression (1964), the oldest form of attention. The estimate at a query is a weighted mean of all
// values. The weights depend on the distance between query and key; the width of the kernel can be learned.
#include <algorithm>
#include <cmath>

#include "attend/attention/pooling.h"
#include "attend/cli/lessons/lesson.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/reduce.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"

namespace attend::cli::pooling_lesson {
namespace {

constexpr std::int64_t kPoints = 50;
constexpr float kEnd = 5.f, kNoise = 0.5f;  // the noise's standard deviation

float truth(float x) { return 2 * std::sin(x) + std::pow(x, 0.8f); }

/// Points in the order of x, with noise in y.
struct Points {
  Tensor x = Tensor::empty({kPoints}), y = Tensor::empty({kPoints});

  explicit Points(Generator& generator) {
    fill_uniform(x, 0, kEnd, generator);
    fill_normal(y, 0, kNoise, generator);
    std::ranges::sort(x.span());
    for (std::int64_t i = 0; i < kPoints; ++i) y.data()[i] += truth(x.data()[i]);
  }
};

/// The width that predicts each training point best from all other points. A point that could attend to itself would
/// attend to nothing else.
Gaussian learn_width(const Points& training, LinePlot& curve) {
  std::vector<std::int8_t> others(kPoints * kPoints, 1);
  for (std::size_t i = 0; i < kPoints; ++i) others[i * kPoints + i] = 0;
  const Mask mask = Mask::allowed(Tensor::from(std::span<const std::int8_t>(others), {kPoints, kPoints}));
  Gaussian kernel;
  require_grad(kernel.inverse_width);
  Adam adam(parameters(kernel), {.learning_rate = 0.1});
  Series width{"width σ", {}, {}}, error{"mean squared error of the left-out points", {}, {}};
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
      "Attention pooling estimates a function from 50 noisy training points. The query is x, the keys are the xᵢ of "
      "the points, the values are their yᵢ. The estimate is the weighted mean of the values; the weights are a softmax "
      "over scores. With equal scores, the estimate is the plain mean of all values. With the score -½((x - xᵢ)/σ)², "
      "near points have greater weights: this is a Gaussian kernel of width σ. The width can be learned by gradient "
      "descent.");

  LinePlot curve;
  struct Fit {
    const char* name;
    Score kernel;
  };
  const std::vector<Fit> fits = {
      {"average", Uniform()}, {"Gaussian, σ = 1", Gaussian()}, {"Gaussian, σ learned", learn_width(training, curve)}};
  const NoGrad no_grad;
  LinePlot plot{"three estimates", "x", "y", {}};
  Series truth_line{"true function", grid.to_vector(), {}, Series::Mark::dashed};
  for (const float x : grid.span()) truth_line.y.push_back(truth(x));
  plot.series.push_back({"training points", training.x.to_vector(), training.y.to_vector(), Series::Mark::points});
  plot.series.push_back(std::move(truth_line));
  Table table{{"pooling", "mean squared error on held-out points"}, {}};
  Figure weights{
      "One row for each query, one column for each training point, both in the order of x. All maps have one scale.",
      {}};
  float best = 0;
  for (const Fit& fit : fits) {
    Probe probe;
    const Tensor estimate = nadaraya_watson(fit.kernel, grid, training.x, training.y, {.probe = &probe});
    plot.series.push_back({fit.name, grid.to_vector(), estimate.to_vector()});
    weights.panels.emplace_back(
        HeatMap{fit.name, "training point", "query", kPoints, kPoints, probe.records().front().weights.to_vector()});
    const Tensor guess = nadaraya_watson(fit.kernel, held_out.x, training.x, training.y);
    best = mean(square(guess - held_out.y)).item();
    table.rows.push_back({fit.name, fixed(best, 3)});
  }
  float noise = 0;
  for (std::int64_t i = 0; i < kPoints; ++i)
    noise += std::pow(held_out.y.data()[i] - truth(held_out.x.data()[i]), 2.f) / kPoints;
  table.rows.push_back({"the true function", fixed(noise, 3)});
  page.show(table);
  page.say(
      "Even the true function does not predict the noise in the held-out points: its error on them is " +
      fixed(noise, 3) + ". The learned width comes within " + fixed(std::abs(best - noise), 3) +
      " of that. Over many samples of points, the error of the true function would be the variance of the noise, " +
      fixed(kNoise * kNoise, 3) + ".");
  page.show(Figure{"", {std::move(plot), std::move(curve)}});
  page.heading("What each query attends to");
  share_scale(weights);
  page.show(std::move(weights));
  return page;
}

const Enlist kEnlisted({"pooling", "Nadaraya–Watson regression: average, Gaussian kernel, learned width", give});

}  // namespace
}  // namespace attend::cli::pooling_lesson
