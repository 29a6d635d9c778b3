// Attention in its oldest form: Nadaraya–Watson pooling (1964). The estimate at a query is the average of the values,
// each weighted by how near its key is:  f(q) = sum_i softmax_i(-(q - k_i)² / 2σ²) y_i.
//
//   pooling                 prints how the width σ decides the fit
//   pooling picture.svg     draws the fit and the attention weights of the best width
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

/// The weights of S keys for each of T queries.   queries [T], keys [S] -> [T, S]
/// The softmax does not see q²/2σ², which is the same for all keys. What remains, (q k - k²/2) / σ², is a dot product:
/// of (q, 1) / σ² and (k, -k²/2).
Tensor attention_weights(const Tensor& queries, const Tensor& keys, float width) {
  std::vector<float> q, k;
  for (const float x : queries.span()) q.insert(q.end(), {x / (width * width), 1 / (width * width)});
  for (const float x : keys.span()) k.insert(k.end(), {x, -x * x / 2});
  const Tensor scores =
      attend::matmul(Tensor::from(q, {queries.numel(), 2}), Tensor::from(k, {keys.numel(), 2}), {.transpose_b = true});
  return attend::softmax(scores);
}

float mean_squared_error(const Tensor& queries, const Tensor& estimates) {
  float sum = 0;
  for (int i = 0; i < kPoints; ++i) sum += std::pow(estimates.data()[i] - truth(queries.data()[i]), 2.f);
  return sum / kPoints;
}

/// Two panels: keys and values with the truth and the estimate; and the weights, a row a query, a column a key.
void draw(const char* file, const Tensor& keys, const Tensor& values, const Tensor& queries, const Tensor& estimates,
          const Tensor& weights) {
  std::ofstream svg(file);
  const float size = 300, left = 340, cell = size / kPoints;
  auto place = [&](float x, float y) {  // x in [0, 5], y in [-1, 6]
    svg << 10 + x / kEnd * size << ',' << 10 + (6 - y) / 7 * size << ' ';
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
      const float share = weights.data()[i * kPoints + j] / darkest;
      if (share < 0.01f) continue;
      svg << "<rect x='" << left + j * cell << "' y='" << 10 + i * cell << "' width='6' height='6' fill='#036'"
          << std::setprecision(2) << " opacity='" << share << "'/>\n"
          << std::setprecision(1);
    }
  svg << "<rect x='340' y='10' width='300' height='300' fill='none' stroke='#ccc'/>\n"
      << "<text x='10' y='332'>noisy values, the truth (dashed), the estimate</text>\n"
      << "<text x='340' y='332'>weights: a row a query, a column a key</text>\n</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
  attend::Generator generator(1964);
  Tensor keys = Tensor::empty({kPoints}), values = Tensor::empty({kPoints}), queries = Tensor::empty({kPoints});
  attend::fill_uniform(keys, 0, kEnd, generator);
  attend::fill_normal(values, 0, 0.5f, generator);
  std::ranges::sort(keys.span());
  for (int i = 0; i < kPoints; ++i) {
    values.data()[i] += truth(keys.data()[i]);
    queries.data()[i] = kEnd * static_cast<float>(i) / kPoints;
  }

  std::cout << "  width   mean squared error\n" << std::fixed;
  Tensor best_weights, best_estimates;
  float least = 1e30f;
  for (const float width : {1e3f, 1.f, 0.5f, 0.25f, 0.1f, 0.02f}) {
    const Tensor weights = attention_weights(queries, keys, width);
    const Tensor estimates = attend::matmul(weights, values.reshape({kPoints, 1}));
    const float error = mean_squared_error(queries, estimates);
    std::cout << std::setw(7) << std::setprecision(2) << width << std::setw(12) << std::setprecision(3) << error
              << '\n';
    if (error < least) least = error, best_weights = weights, best_estimates = estimates;
  }
  if (argc > 1) draw(argv[1], keys, values, queries, best_estimates, best_weights);
}
