// Confidence intervals by bootstrap resampling (Koehn 2004), as in sacreBLEU. Many test sets are sampled with
// replacement from the sentences of the original one, and each is scored; the spread of the scores gives the interval.
// Metrics provide statistics of sentences that can be added, so a resample only needs a sum.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "attend/core/threads.h"

namespace attend {

struct BootstrapOptions {
  int resamples = 1000;
  std::uint64_t seed = 12345;  ///< the same seed gives the same resamples, for any number of threads
};

/// A 95% confidence interval: mean ± half_width. half_width is half the distance between the 2.5th and the 97.5th
/// percentile.
struct Confidence {
  double mean = 0, half_width = 0;
};

/// Computes the score of a test set with these sentences, given by index; a sentence may appear several times. It is
/// called from several threads at the same time.
using SampleScore = FunctionRef<double(std::span<const std::uint32_t> sample)>;

/// Throws InputError if there are no sentences or no resamples.
Confidence bootstrap(std::int64_t sentences, SampleScore score, const BootstrapOptions& options = {});

/// The scores of two systems on the same resamples.
struct PairedBootstrap {
  Confidence baseline, system;
  /// The probability of a difference at least as large as the observed one if both systems are equally good. A
  /// difference is usually called significant if it is below 0.05. 1 if there is no difference.
  double p_value = 1;
};
PairedBootstrap paired_bootstrap(std::int64_t sentences, SampleScore baseline, SampleScore system,
                                 const BootstrapOptions& options = {});

/// The sum of the statistics of the sentences of a sample.
template <typename Statistics>
Statistics sum_of_sample(std::span<const Statistics> sentences, std::span<const std::uint32_t> sample) {
  Statistics sum{};
  for (const std::uint32_t i : sample) sum += sentences[i];
  return sum;
}

/// "|bs:1000|seed:12345", for the signature of a metric.
std::string resampling_signature(const BootstrapOptions& options = {});

}  // namespace attend
