#include "attend/metrics/rouge.h"

#include <algorithm>
#include <map>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/metrics/ngrams.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

using Words = std::vector<std::string>;

RougeScore score_of(std::int64_t matches, std::int64_t summary, std::int64_t reference) {
  const auto share = [&](std::int64_t total) {
    return 100. * static_cast<double>(matches) / static_cast<double>(std::max<std::int64_t>(total, 1));
  };
  RougeScore score{.precision = share(summary), .recall = share(reference)};
  const double sum = score.precision + score.recall;
  if (sum > 0) score.f = 2 * score.precision * score.recall / sum;
  return score;
}

RougeScore by_ngrams(const Words& summary, const Words& reference, std::size_t n) {
  const Ngrams<std::string> ours(summary, n), theirs(reference, n);
  std::int64_t matches = 0;
  ours.each(n, [&](std::span<const std::string> ngram, std::int64_t count) {
    matches += std::min(count, theirs.count(ngram));
  });
  return score_of(matches, ours.total(n), theirs.total(n));
}

/// The lengths of the longest common subsequences of all beginnings.   -> [(a + 1) × (b + 1)]
std::vector<std::int32_t> subsequences(const Words& a, const Words& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::int32_t> table((a.size() + 1) * width, 0);
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      table[i * width + j] = a[i - 1] == b[j - 1] ? table[(i - 1) * width + j - 1] + 1
                                                  : std::max(table[(i - 1) * width + j], table[i * width + j - 1]);
  return table;
}

RougeScore by_subsequence(const Words& summary, const Words& reference) {
  return score_of(subsequences(reference, summary).back(), std::ssize(summary), std::ssize(reference));
}

/// Marks the words of a line of the reference that are in its longest common subsequence with a line of the summary. Of
/// several such subsequences, it is the one that rouge_score finds.
void mark(const Words& reference, const Words& summary, std::vector<bool>& marked) {
  const std::vector<std::int32_t> table = subsequences(reference, summary);
  const std::size_t width = summary.size() + 1;
  for (std::size_t i = reference.size(), j = summary.size(); i > 0 && j > 0;) {
    if (reference[i - 1] == summary[j - 1])
      marked[i - 1] = true, --i, --j;
    else if (table[i * width + j - 1] > table[(i - 1) * width + j])
      --j;
    else
      --i;
  }
}

/// The words of each line that is not empty.
std::vector<Words> lines_of(std::string_view text, const RougeOptions& options) {
  std::vector<Words> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(rouge_words(text.substr(begin, end - begin), options));
    begin = end + 1;
  }
  return lines;
}

RougeScore by_lines(const std::vector<Words>& summary, const std::vector<Words>& reference) {
  std::map<std::string_view, std::int64_t> ours, theirs;  // how often each word may still match
  std::int64_t summary_words = 0, reference_words = 0, matches = 0;
  for (const Words& line : summary)
    for (const std::string& word : line) ++ours[word], ++summary_words;
  for (const Words& line : reference)
    for (const std::string& word : line) ++theirs[word], ++reference_words;
  for (const Words& line : reference) {
    std::vector<bool> marked(line.size());
    for (const Words& other : summary) mark(line, other, marked);
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!marked[i] || ours[line[i]] == 0 || theirs[line[i]] == 0) continue;
      ++matches, --ours[line[i]], --theirs[line[i]];
    }
  }
  return score_of(matches, summary_words, reference_words);
}

RougeScore score(Rouge kind, std::string_view summary, std::string_view reference, const RougeOptions& options) {
  if (kind == Rouge::longest_of_lines) return by_lines(lines_of(summary, options), lines_of(reference, options));
  const Words ours = rouge_words(summary, options), theirs = rouge_words(reference, options);
  return kind == Rouge::longest ? by_subsequence(ours, theirs) : by_ngrams(ours, theirs, kind == Rouge::one ? 1 : 2);
}

}  // namespace

std::string_view name_of(Rouge kind) {
  constexpr std::string_view kNames[] = {"rouge1", "rouge2", "rougeL", "rougeLsum"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<std::string> rouge_words(std::string_view text, const RougeOptions& options) {
  Words words;
  std::string word;
  const auto finish = [&] {
    // rouge_score leaves short words as they are.
    if (!word.empty()) words.push_back(options.stem && word.size() > 3 ? porter_stem(word) : word);
    word.clear();
  };
  const auto add = [&](char32_t c) {
    constexpr auto kWord = property::kLetter | property::kNumber | property::kMark;
    if (options.unicode ? (properties(c) & kWord) == 0 : !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
      return finish();
    const bool ideograph = (properties(c) & property::kChinese) != 0;  // a word of its own
    if (ideograph) finish();
    append_utf8(c, word);
    if (ideograph) finish();
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const LowerCase lower = lower_case(c.value);
    add(lower.first);
    if (lower.second != 0) add(lower.second);
    at += static_cast<std::size_t>(c.size);
  }
  finish();
  return words;
}

RougeScore rouge_score(Rouge kind, std::string_view summary, std::span<const std::string_view> references,
                       const RougeOptions& options) {
  if (references.empty()) fail<InputError>("rouge", "there is no reference");
  RougeScore best = score(kind, summary, references.front(), options);
  for (const std::string_view reference : references.subspan(1))
    if (const RougeScore other = score(kind, summary, reference, options); other.f > best.f) best = other;
  return best;
}

std::vector<RougeScore> rouge_scores(Rouge kind, std::span<const std::string> summaries, const References& references,
                                     const RougeOptions& options) {
  check_references("rouge", summaries, references);
  std::vector<RougeScore> scores(summaries.size());
  parallel_tasks(std::ssize(summaries), [&](std::int64_t at) {
    const auto i = static_cast<std::size_t>(at);
    scores[i] = rouge_score(kind, summaries[i], references_of(references, i), options);
  });
  return scores;
}

}  // namespace attend
