// ROUGE (Lin 2004), which compares summaries with references: ROUGE-N by n-grams, ROUGE-L by the longest common
// subsequence. Scores are from 0 to 100 and otherwise equal to those of Google's rouge_score: the score of a corpus is
// the mean of its texts, and of several references the one with the best F counts.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics/metric_text.h"

namespace attend {

/// Which ROUGE.
enum class Rouge : std::uint8_t {
  one,               ///< words
  two,               ///< pairs of words
  longest,           ///< ROUGE-L: the longest common subsequence of the whole texts
  longest_of_lines,  ///< ROUGE-Lsum: subsequences of each line of the reference; lines are the sentences of a summary
};
/// "rouge1", "rouge2", "rougeL" or "rougeLsum", as rouge_score names them.
std::string_view name_of(Rouge kind);
inline constexpr std::array<Rouge, 4> kRouges = {Rouge::one, Rouge::two, Rouge::longest, Rouge::longest_of_lines};

struct RougeOptions {
  /// Reduce words of more than three letters to their stems, with Porter's algorithm for English (see porter_stem()).
  bool stem = false;
  /// Words consist of the letters and digits of all scripts, and a Chinese character is a word. Otherwise words consist
  /// of a–z and 0–9, as in rouge_score, which divides words at all other letters.
  bool unicode = false;
};

struct RougeScore {
  double precision = 0, recall = 0, f = 0;  ///< from 0 to 100
};

/// The words that ROUGE compares.
std::vector<std::string> rouge_words(std::string_view text, const RougeOptions& options = {});

/// The score of one summary, with the reference that gives the best F. Throws InputError if there is no reference.
RougeScore rouge_score(Rouge kind, std::string_view summary, std::span<const std::string_view> references,
                       const RougeOptions& options = {});
/// The scores of all summaries, computed on all threads. Throws InputError if the numbers of lines differ.
std::vector<RougeScore> rouge_scores(Rouge kind, std::span<const std::string> summaries, const References& references,
                                     const RougeOptions& options = {});

/// The stem of an English word in lower case: Porter (1980) with the changes of NLTK, which rouge_score uses.
std::string porter_stem(const std::string& word);

}  // namespace attend
