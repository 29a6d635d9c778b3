#include "attend/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attend {
namespace {

/// Makes what is left sum to 1.
void normalise(std::vector<double>& chances) {
  const double sum = std::accumulate(chances.begin(), chances.end(), 0.0);
  for (double& chance : chances) chance /= sum;
}

}  // namespace

std::vector<double> chances(std::vector<NextWord>& words, const SamplingOptions& options) {
  if (options.top_k > 0 && words.size() > static_cast<std::size_t>(options.top_k))
    words.resize(static_cast<std::size_t>(options.top_k));
  std::vector<double> chances;
  chances.reserve(words.size());
  for (const NextWord& word : words)
    chances.push_back(std::exp((word.score - words.front().score) / options.temperature));
  normalise(chances);
  if (options.top_p < 1) {  // from the unlikeliest on, words go as long as they are not more than 1 - top_p together
    double gone = 0;
    while (chances.size() > 1 && gone + chances.back() <= 1 - options.top_p) gone += chances.back(), chances.pop_back();
    normalise(chances);
  }
  while (!chances.empty() && chances.back() < options.min_p * chances.front()) chances.pop_back();
  normalise(chances);
  words.resize(chances.size());
  return chances;
}

std::size_t draw(const std::vector<double>& chances, double u) {
  double sum = 0;
  for (std::size_t i = 0; i < chances.size(); ++i)
    if (u < (sum += chances[i])) return i;
  return chances.size() - 1;  // what rounding left of 1
}

}  // namespace attend
