// Attention in its oldest form: Nadaraya–Watson pooling (1964). The estimate at a query is the average of the values,
// each weighted by how near its key is:  f(q) = sum_i softmax_i(-(q - k_i)² / 2σ²) y_i.  The width σ is learned, as its
// inverse.
//
//   pooling                 prints how it learns, and what it attends to
//   pooling picture.svg     draws the fit and the attention weights too
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

/// Two panels: keys and values with the truth and the estimate; and the weights, a row a query, a column a key.
void draw(const char* file, const Tensor& keys, const Tensor& values, const Tensor& queries, const Tensor& estimates,
          const Tensor& weights) {
  std::ofstream svg(file);
  const float size = 300, left = 340, cell = size / kPoints;
  auto place = [&](float x, float y) {  // x in [0, 5], y in [-0.5, 5]
    svg << 10 + x / kEnd * size << ',' << 10 + (5 - y) / 5.5f * size << ' ';
  };
  auto curve = [&](const char* style, auto&& y_of) {
    svg << "<polyline fill='none' " << style << " points='";
    for (int i = 0; i < kPoints; ++i) place(queries.data()[i], y_of(i));
    svg << "'/>\n";
  };
  svg << std::fixed << std::setprecision(1)
      << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 650 345' font-family='sans-serif' font-size='13'>\n"
      << "<rect width='650' height='345' fill='white'/>\n"
      << "<rect x='10' y='10' width='300' height='300' fill='none' stroke='#ccc'/>\n";
  for (int i = 0; i < kPoints; ++i) {
    svg << "<circle r='2.5' fill='#999' transform='translate(";
    place(keys.data()[i], values.data()[i]);
    svg << ")'/>\n";
  }
  curve("stroke='#2a7' stroke-width='2' stroke-dasharray='5 4'", [&](int i) { return truth(queries.data()[i]); });
  curve("stroke='#c30' stroke-width='2'", [&](int i) { return estimates.data()[i]; });
  const float darkest = *std::ranges::max_element(weights.span());
  for (int i = 0; i < kPoints; ++i)
    for (int j = 0; j < kPoints; ++j) {
      const float shade = std::sqrt(weights.data()[i * kPoints + j] / darkest);
      if (shade < 0.02f) continue;
      svg << "<rect x='" << left + j * cell << "' y='" << 10 + i * cell << "' width='6' height='6' fill='#036'"
          << std::setprecision(2) << " opacity='" << shade << "'/>\n"
          << std::setprecision(1);
    }
  svg << "<rect x='340' y='10' width='300' height='300' fill='none' stroke='#ccc'/>\n"
      << "<text x='10' y='332'>noisy values, the truth (dashed), the estimate</text>\n"
      << "<text x='340' y='332'>√weight: a row a query, a column a key</text>\n</svg>\n";
}

/// The weights in the terminal: every other query, all keys.
void print(const Tensor& weights) {
  constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
  const float darkest = *std::ranges::max_element(weights.span());
  for (int i = 0; i < kPoints; i += 2) {
    std::cout << "  ";
    for (int j = 0; j < kPoints; ++j)
      std::cout << kShades[static_cast<int>(4.99f * std::sqrt(weights.data()[i * kPoints + j] / darkest))];
    std::cout << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  attend::Generator generator(1964);
  Tensor keys = Tensor::empty({kPoints}), values = Tensor::empty({kPoints}), queries = Tensor::empty({kPoints});
  attend::fill_uniform(keys, 0, kEnd, generator);
  attend::fill_normal(values, 0, 0.5f, generator);
  std::ranges::sort(keys.span());
  // A point that might look at itself would look nowhere else: in training it sees only the others.
  std::vector<std::int8_t> others(kPoints * kPoints, 1);
  for (int i = 0; i < kPoints; ++i) {
    values.data()[i] += truth(keys.data()[i]);
    queries.data()[i] = kEnd * static_cast<float>(i) / kPoints;
    others[static_cast<std::size_t>(i * kPoints + i)] = 0;
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
  std::cout << "\nWhat it attends to, a row a query, a column a key, both in the order of x:\n\n";
  print(weights);
  if (argc > 1) draw(argv[1], keys, values, queries, estimates, weights);
}
