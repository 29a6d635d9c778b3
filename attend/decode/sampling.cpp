#include "attend/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace attend {
namespace {

/// Makes the probabilities sum to 1.
void normalise(std::vector<double>& probabilities) {
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& probability : probabilities) probability /= sum;
}

}  // namespace

std::vector<double> sampling_probabilities(std::vector<NextToken>& tokens, const SamplingOptions& options) {
  if (options.top_k > 0 && tokens.size() > static_cast<std::size_t>(options.top_k))
    tokens.resize(static_cast<std::size_t>(options.top_k));
  std::vector<double> probabilities;
  probabilities.reserve(tokens.size());
  for (const NextToken& token : tokens)
    probabilities.push_back(std::exp((token.score - tokens.front().score) / options.temperature));
  normalise(probabilities);
  if (options.top_p < 1) {  // drop the least likely tokens whose probabilities add up to at most 1 - top_p
    double gone = 0;
    while (probabilities.size() > 1 && gone + probabilities.back() <= 1 - options.top_p)
      gone += probabilities.back(), probabilities.pop_back();
    normalise(probabilities);
  }
  while (!probabilities.empty() && probabilities.back() < options.min_p * probabilities.front())
    probabilities.pop_back();
  normalise(probabilities);
  tokens.resize(probabilities.size());
  return probabilities;
}

std::uint64_t random_seed() {
  std::random_device device;
  return ((std::uint64_t{device()} << 32) | device()) >> 11;
}

std::size_t sample_index(const std::vector<double>& probabilities, double u) {
  double sum = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i)
    if (u < (sum += probabilities[i])) return i;
  return probabilities.size() - 1;  // rounding: the sum may be a little below 1
}

}  // namespace attend
