// chrF (Popović 2015), an F-score of character n-grams, and chrF++ (2017), which adds word n-grams, as in sacreBLEU 2.
// Scores are from 0 to 100, and equal to those of sacreBLEU.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics/metric_text.h"

namespace attend {

struct ChrfOptions {
  int characters = 6;        ///< maximum order of character n-grams; characters + words <= ChrfStatistics::kMaxOrders
  int words = 0;             ///< maximum order of word n-grams; 2 for chrF++
  double beta = 2;           ///< weight of recall relative to precision
  bool white_space = false;  ///< whether whitespace is included in the characters
};

/// The counts of a sentence that chrF needs: for each order of character n-grams, then of word n-grams. The counts of a
/// corpus are the sums over its sentences.
struct ChrfStatistics {
  static constexpr std::size_t kMaxOrders = 16;
  struct Counts {
    std::int64_t hypothesis = 0, reference = 0, matches = 0;
  };
  std::array<Counts, kMaxOrders> orders{};

  ChrfStatistics& operator+=(const ChrfStatistics& other);
};

/// The counts of one sentence and the reference with the best score. Invalid UTF-8 bytes are treated as U+FFFD.
ChrfStatistics chrf_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const ChrfOptions& options = {});
/// The counts of each sentence, computed on all threads. Throws InputError if the numbers of lines differ.
std::vector<ChrfStatistics> chrf_statistics(std::span<const std::string> hypotheses, const References& references,
                                            const ChrfOptions& options = {});

/// (1 + β²) P R / (β² P + R), where P and R are precision and recall, averaged over the orders for which both the
/// hypothesis and the reference have n-grams.
double chrf_score(const ChrfStatistics& statistics, const ChrfOptions& options = {});

/// The score of a corpus.
double corpus_chrf(std::span<const std::string> hypotheses, const References& references,
                   const ChrfOptions& options = {});
/// The name of the metric: "chrF2", or "chrF2++" with words. It contains beta.
std::string chrf_name(const ChrfOptions& options = {});
/// The signature, as in bleu_signature(): "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attend-0.1.0".
std::string chrf_signature(std::size_t references, const std::string& resampling = "", const ChrfOptions& options = {});

}  // namespace attend
