// chrF (Popović 2015): F-score of character n-grams, and chrF++ (2017), which adds words, as sacreBLEU 2 computes them.
// Scores run from 0 to 100 and agree with sacreBLEU's.
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
  int characters = 6;        ///< longest n-gram of characters, at most ChrfStatistics::kMaxOrders with the words
  int words = 0;             ///< longest n-gram of words; 2 makes it chrF++
  double beta = 2;           ///< recall counts beta times as much as precision
  bool white_space = false;  ///< white space counts as characters
};

/// What chrF counts in a sentence: n-grams of characters of each length, then of words. The counts of a corpus are the
/// sums over its sentences.
struct ChrfStatistics {
  static constexpr std::size_t kMaxOrders = 16;
  struct Counts {
    std::int64_t hypothesis = 0, reference = 0, matches = 0;
  };
  std::array<Counts, kMaxOrders> orders{};

  ChrfStatistics& operator+=(const ChrfStatistics& other);
};

/// Of one sentence, against the reference that gives it the best score. Bytes that are not UTF-8 count as U+FFFD.
ChrfStatistics chrf_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const ChrfOptions& options = {});
/// Of each sentence, on all threads. Throws InputError when the counts of lines differ.
std::vector<ChrfStatistics> chrf_statistics(std::span<const std::string> hypotheses, const References& references,
                                            const ChrfOptions& options = {});

/// (1 + β²) P R / (β² P + R), where P and R are precision and recall, averaged over the orders that both sides have.
double chrf_score(const ChrfStatistics& statistics, const ChrfOptions& options = {});

/// The score of all sentences together, and of one.
double corpus_chrf(std::span<const std::string> hypotheses, const References& references,
                   const ChrfOptions& options = {});
double sentence_chrf(std::string_view hypothesis, std::span<const std::string_view> references,
                     const ChrfOptions& options = {});

/// "chrF2", or "chrF2++" with words: beta is part of the name.
std::string chrf_name(const ChrfOptions& options = {});
/// As bleu_signature: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attend-0.1.0".
std::string chrf_signature(std::size_t references, const std::string& resampling = "", const ChrfOptions& options = {});

}  // namespace attend
