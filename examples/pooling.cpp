// Attention in its oldest form: Nadaraya–Watson pooling (1964). The estimate at a query is the average of the values,
// each weighted by how near its key is:  f(q) = sum_i softmax_i(-(q - k_i)² / 2σ²) y_i.  The width σ is learned, as its
// inverse.
//
//   pooling                 prints how it learns
//   pooling picture.svg     draws the fit and the attention weights
#include <attend/attend.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>

using attend::Tensor;

namespace {

constexpr int kPoints = 50;
constexpr float kEnd = 5.f;

float truth(float x) { return 2 * std::sin(x) + std::pow(x, 0.8f); }

/// Softmax over the keys of -((q - k) w)² / 2 + mask.   q [T], k [S], w [], mask [T, S] or [] -> [T, S]
Tensor attention_weights(const Tensor& queries, const Tensor& keys, const Tensor& sharpness, const Tensor& mask) {
  const Tensor distance = queries.reshape({-1, 1}) - keys.reshape({1, -1});
  return attend::softmax(-0.5f * attend::square(distance * sharpness) + mask);
}

/// What the weights make of the values.   weights [T, S], values [S] -> [T]
Tensor pool(const Tensor& weights, const Tensor& values) {
  return attend::matmul(weights, values.reshape({-1, 1})).reshape({-1});
}

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

  // A point that might look at itself would look nowhere else: in training it sees only the others.
  Tensor others_only = Tensor::zeros({kPoints, kPoints});
  for (int i = 0; i < kPoints; ++i) others_only.data()[i * kPoints + i] = -1e9f;

  Tensor sharpness = Tensor::scalar(1.f);
  attend::require_grad(sharpness);
  attend::Adam adam({{"sharpness", sharpness}}, {.learning_rate = 0.2});
  std::cout << "  step  width  mean squared error on the other points\n" << std::fixed << std::setprecision(3);
  for (int step = 0; step <= 40; ++step) {
    const Tensor guesses = pool(attention_weights(keys, keys, sharpness, others_only), values);
    const Tensor loss = attend::mean(attend::square(guesses - values));
    if (step % 10 == 0)
      std::cout << std::setw(6) << step << std::setw(7) << 1 / sharpness.item() << "  " << loss.item() << '\n';
    attend::backward(loss);
    adam.step();
    adam.zero_grad();
  }

  const attend::NoGrad no_grad;
  const Tensor weights = attention_weights(queries, keys, sharpness, Tensor::scalar(0.f));
  if (argc > 1) draw(argv[1], keys, values, queries, pool(weights, values), weights);
}
