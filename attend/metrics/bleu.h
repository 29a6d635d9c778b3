// BLEU (Papineni et al. 2002) with the defaults of sacreBLEU (Post 2018): tokenisation 13a of mteval, case-sensitive,
// n-grams of up to four words, exponential smoothing. Scores are from 0 to 100, and equal to those of sacreBLEU.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics/metric_text.h"

namespace attend {

/// The counts of a sentence that BLEU needs. The counts of a corpus are the sums over its sentences.
struct BleuStatistics {
  static constexpr std::size_t kOrder = 4;

  std::array<std::int64_t, kOrder> matches{};  ///< number of n-grams that are also in a reference, at index n - 1
  std::array<std::int64_t, kOrder> totals{};   ///< number of n-grams of the hypothesis
  std::int64_t hypothesis_words = 0;
  std::int64_t reference_words = 0;  ///< of the reference with the closest length; the shorter one of two

  BleuStatistics& operator+=(const BleuStatistics& other);
};

struct BleuScore {
  double score = 0;                                         ///< brevity_penalty · (Π precisions)^¼
  std::array<double, BleuStatistics::kOrder> precisions{};  ///< percent; smoothed if there are no matches
  double brevity_penalty = 0;  ///< exp(1 - r / c) if the hypothesis has c words, fewer than the reference's r
  std::int64_t hypothesis_words = 0, reference_words = 0;

  /// "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)", as sacreBLEU prints it.
  std::string details() const;
};

/// Splits a text into words and punctuation, as mteval-v13a.pl does.
std::vector<std::string> tokenize_13a(std::string_view text);

/// The counts of one sentence. A match may come from any of its references.
BleuStatistics bleu_statistics(std::string_view hypothesis, std::span<const std::string_view> references);
/// The counts of each sentence, computed on all threads. Throws InputError if the numbers of lines differ.
std::vector<BleuStatistics> bleu_statistics(std::span<const std::string> hypotheses, const References& references);

/// With effective_order, n-grams longer than the hypothesis are ignored. Use it for single sentences, where BLEU would
/// otherwise be 0.
BleuScore bleu_score(const BleuStatistics& statistics, bool effective_order = false);

/// The score of a corpus.
BleuScore corpus_bleu(std::span<const std::string> hypotheses, const References& references);
/// The signature of the metric in the format of sacreBLEU, with the version of Attend:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attend-0.1.0". `resampling` is inserted after nrefs (see
/// bootstrap.h).
std::string bleu_signature(std::size_t references, const std::string& resampling = "", bool effective_order = false);

}  // namespace attend
