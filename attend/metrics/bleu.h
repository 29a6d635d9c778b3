// BLEU (Papineni et al. 2002) as sacreBLEU computes it by default (Post 2018): mteval's tokenisation 13a, cased, up to
// four words, exponential smoothing. Scores run from 0 to 100 and agree with sacreBLEU's.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics/metric_text.h"

namespace attend {

/// What BLEU counts in a sentence. The counts of a corpus are the sums over its sentences.
struct BleuStatistics {
  static constexpr std::size_t kOrder = 4;

  std::array<std::int64_t, kOrder> matches{};  ///< n-grams that a reference has too, at n - 1
  std::array<std::int64_t, kOrder> totals{};   ///< all n-grams of the hypothesis
  std::int64_t hypothesis_words = 0;
  std::int64_t reference_words = 0;  ///< of the reference whose length is nearest, of two the shorter

  BleuStatistics& operator+=(const BleuStatistics& other);
};

struct BleuScore {
  double score = 0;                                         ///< brevity_penalty · (Π precisions)^¼
  std::array<double, BleuStatistics::kOrder> precisions{};  ///< percent; of no matches, half of the one before
  double brevity_penalty = 0;                               ///< exp(1 - r / c) where c < r words were given
  std::int64_t hypothesis_words = 0, reference_words = 0;

  /// "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)", as sacreBLEU prints it.
  std::string details() const;
};

/// Words and punctuation as mteval-v13a.pl separates them.
std::vector<std::string> tokenize_13a(std::string_view text);

/// Of one sentence, whose n-grams may come from any of its references.
BleuStatistics bleu_statistics(std::string_view hypothesis, std::span<const std::string_view> references);
/// Of each sentence, on all threads. Throws InputError when the counts of lines differ.
std::vector<BleuStatistics> bleu_statistics(std::span<const std::string> hypotheses, const References& references);

/// With effective_order, n-grams that are longer than the hypothesis do not count: right for single sentences, where
/// BLEU would be 0 otherwise. A corpus has it off.
BleuScore bleu_score(const BleuStatistics& statistics, bool effective_order = false);

/// The score of all sentences together.
BleuScore corpus_bleu(std::span<const std::string> hypotheses, const References& references);
/// The score of one, with effective order.
BleuScore sentence_bleu(std::string_view hypothesis, std::span<const std::string_view> references);

/// How the score came about, in sacreBLEU's form, with our version where it puts its own:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attend-0.1.0". `resampling` goes after nrefs (see
/// bootstrap.h).
std::string bleu_signature(std::size_t references, const std::string& resampling = "", bool effective_order = false);

}  // namespace attend
