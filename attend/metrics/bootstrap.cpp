#include "attend/metrics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "attend/core/error.h"
#include "attend/core/random.h"

namespace attend {
namespace {

void check(std::int64_t sentences, const BootstrapOptions& options) {
  if (sentences <= 0 || sentences > std::numeric_limits<std::uint32_t>::max() || options.resamples <= 0)
    fail<InputError>("bootstrap", "nothing to resample: got ", sentences, " sentences and ", options.resamples,
                     " resamples, expected at least one of each");
}

/// The sentences of resample number `which`. Each resample has its own random stream, so that it does not depend on the
/// thread.
std::vector<std::uint32_t> draw(std::int64_t sentences, std::int64_t which, std::uint64_t seed) {
  std::vector<std::uint32_t> sample(static_cast<std::size_t>(sentences));
  const PhiloxKey key{seed, static_cast<std::uint64_t>(which)};
  for (std::size_t i = 0; i < sample.size(); i += 4) {
    const auto numbers = philox(key, i / 4);
    for (std::size_t j = 0; j < std::min<std::size_t>(4, sample.size() - i); ++j)
      sample[i + j] = static_cast<std::uint32_t>(
          (static_cast<std::uint64_t>(numbers[j]) * static_cast<std::uint64_t>(sentences)) >> 32);
  }
  return sample;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Confidence confidence_of(std::vector<double> scores) {
  std::ranges::sort(scores);
  const std::size_t tail = scores.size() / 40;
  return {mean_of(scores), (scores[scores.size() - 1 - tail] - scores[tail]) / 2};
}

}  // namespace

Confidence bootstrap(std::int64_t sentences, SampleScore score, const BootstrapOptions& options) {
  check(sentences, options);
  std::vector<double> scores(static_cast<std::size_t>(options.resamples));
  parallel_tasks(options.resamples, [&](std::int64_t which) {
    scores[static_cast<std::size_t>(which)] = score(draw(sentences, which, options.seed));
  });
  return confidence_of(std::move(scores));
}

PairedBootstrap paired_bootstrap(std::int64_t sentences, SampleScore baseline, SampleScore system,
                                 const BootstrapOptions& options) {
  check(sentences, options);
  const auto resamples = static_cast<std::size_t>(options.resamples);
  std::vector<double> first(resamples), second(resamples), differences(resamples);
  parallel_tasks(options.resamples, [&](std::int64_t which) {
    const auto i = static_cast<std::size_t>(which);
    const std::vector<std::uint32_t> sample = draw(sentences, which, options.seed);
    first[i] = baseline(sample), second[i] = system(sample);
    differences[i] = std::abs(second[i] - first[i]);
  });

  std::vector<std::uint32_t> whole(static_cast<std::size_t>(sentences));
  std::iota(whole.begin(), whole.end(), 0u);
  const double measured = std::abs(system(whole) - baseline(whole));
  // Shifted to mean 0, the differences are distributed as under the null hypothesis. Adding one to both counts avoids a
  // p-value of 0, which a finite number of resamples cannot justify.
  const double mean = mean_of(differences);
  const auto beyond =
      std::ranges::count_if(differences, [&](double d) { return d - mean > measured || measured == 0; });
  return {confidence_of(std::move(first)), confidence_of(std::move(second)),
          static_cast<double>(beyond + 1) / static_cast<double>(resamples + 1)};
}

std::string resampling_signature(const BootstrapOptions& options) {
  return "|bs:" + std::to_string(options.resamples) + "|seed:" + std::to_string(options.seed);
}

}  // namespace attend
