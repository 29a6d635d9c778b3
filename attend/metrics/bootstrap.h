// How sure a score is: bootstrap resampling (Koehn 2004), as sacreBLEU does it. A test set is drawn again and again
// from its own sentences, with replacement, and scored each time; the spread of the scores is the answer. Metrics give
// statistics of sentences that add up, so a resample costs a sum and not a new comparison of texts.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "attend/core/threads.h"

namespace attend {

struct BootstrapOptions {
  int resamples = 1000;
  std::uint64_t seed = 12345;  ///< the same seed gives the same resamples, on any number of threads
};

/// 95 of 100 resamples score within mean ± half_width (half of the way from the 2.5th to the 97.5th percentile).
struct Confidence {
  double mean = 0, half_width = 0;
};

/// The score of a test set made of these sentences (positions; some stand there more than once). Called from several
/// threads at the same time.
using SampleScore = FunctionRef<double(std::span<const std::uint32_t> sample)>;

/// Throws InputError when there are no sentences or no resamples.
Confidence bootstrap(std::int64_t sentences, SampleScore score, const BootstrapOptions& options = {});

/// Two systems on the same resamples.
struct PairedBootstrap {
  Confidence baseline, system;
  /// How probable a difference as large as the measured one is, if it came by chance: below 0.05 one calls it
  /// significant. 1 where nothing was measured.
  double p_value = 1;
};
PairedBootstrap paired_bootstrap(std::int64_t sentences, SampleScore baseline, SampleScore system,
                                 const BootstrapOptions& options = {});

/// The statistics of a sample: those of its sentences, added up.
template <typename Statistics>
Statistics sum_of_sample(std::span<const Statistics> sentences, std::span<const std::uint32_t> sample) {
  Statistics sum{};
  for (const std::uint32_t i : sample) sum += sentences[i];
  return sum;
}

/// "|bs:1000|seed:12345", for a metric's signature.
std::string resampling_signature(const BootstrapOptions& options = {});

}  // namespace attend
