// Nadaraya–Watson regression (1964), the oldest form of attention. The estimate at a query is the mean of the values,
// weighted by the distance of their keys:  f(q) = sum_i softmax_i(-(q - k_i)² / 2σ²) y_i.  The inverse of the width σ
// is learned.
//
//   pooling                 prints the training error and the attention weights
//   pooling picture.svg     also draws the fit and the attention weights
#include <attend/attend.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <vector>

using attend::Tensor;

namespace {

constexpr int kPoints = 50;
constexpr float kEnd = 5.f;

float truth(float x) { return 2 * std::sin(x) + std::pow(x, 0.8f); }

}  // namespace

int main(int argc, char** argv) {
  attend::Generator generator(1964);
  Tensor keys = Tensor::empty({kPoints}), values = Tensor::empty({kPoints}), queries = Tensor::empty({kPoints});
  attend::fill_uniform(keys, 0, kEnd, generator);
  attend::fill_normal(values, 0, 0.5f, generator);
  std::ranges::sort(keys.span());
  // A point that could attend to itself would ignore all others. So in training each point attends only to the others.
  std::vector<std::int8_t> others(kPoints * kPoints, 1);
  for (int i = 0; i < kPoints; ++i) {
    values.data()[i] += truth(keys.data()[i]);
    queries.data()[i] = kEnd * static_cast<float>(i) / kPoints;
    others[static_cast<std::size_t>(i) * (kPoints + 1)] = 0;
  }
  const Tensor others_only = Tensor::from(std::span<const std::int8_t>(others), {kPoints, kPoints});

  attend::Gaussian kernel;
  attend::require_grad(kernel.inverse_width);
  attend::Adam adam(attend::parameters(kernel), {.learning_rate = 0.2});
  std::cout << "Nadaraya–Watson pooling learns its width:\n\n  step  width  mean squared error on the other points\n"
            << std::fixed << std::setprecision(3);
  for (int step = 0; step <= 40; ++step) {
    const Tensor guesses =
        attend::nadaraya_watson(kernel, keys, keys, values, {.mask = attend::Mask::allowed(others_only)});
    const Tensor loss = attend::mean(attend::square(guesses - values));
    if (step % 10 == 0)
      std::cout << std::setw(6) << step << std::setw(7) << 1 / kernel.inverse_width.item() << "  " << loss.item()
                << '\n';
    attend::backward(loss);
    adam.step();
    adam.zero_grad();
  }

  const attend::NoGrad no_grad;
  attend::Probe probe;
  const Tensor estimates = attend::nadaraya_watson(kernel, queries, keys, values, {.probe = &probe});
  const Tensor& weights = probe.records().front().weights;
  attend::Series truth_line{"truth", queries.to_vector(), {}, attend::Series::Mark::dashed};
  for (const float x : queries.span()) truth_line.y.push_back(truth(x));
  const attend::HeatMap map{"attention weights", "key", "query", kPoints, kPoints, weights.to_vector()};
  const attend::LinePlot fit{"the fit",
                             "x",
                             "y",
                             {{"noisy values", keys.to_vector(), values.to_vector(), attend::Series::Mark::points},
                              std::move(truth_line),
                              {"estimate", queries.to_vector(), estimates.to_vector()}}};
  std::cout << attend::to_terminal(attend::Figure{"Rows are queries and columns are keys, both sorted by x.", {map}});
  if (argc > 1) std::ofstream(argv[1]) << attend::to_svg(attend::Figure{"", {fit, map}});
}
