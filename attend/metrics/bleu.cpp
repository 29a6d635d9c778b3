#include "attend/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "attend/core/threads.h"
#include "attend/core/version.h"
#include "attend/metrics/ngrams.h"

namespace attend {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_point(char c) { return c == '.' || c == ','; }
/// ASCII punctuation, except for ' , - and . which are handled separately or not at all.
bool is_symbol(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// Inserts a space between two characters for which meets() holds, and optionally before and after them. A character
/// belongs to one pair only, as in a replacement by a regular expression. Working on bytes is correct, because meets()
/// only tests for ASCII characters.
template <typename Meets>
std::string space_pairs(const std::string& text, Meets meets, bool space_before_first, bool space_after_second) {
  std::string spaced;
  spaced.reserve(2 * text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pair = i + 1 < text.size() && meets(text[i], text[i + 1]);
    if (pair && space_before_first) spaced += ' ';
    spaced += text[i];
    if (!pair) continue;
    spaced += ' ';
    spaced += text[++i];
    if (space_after_second) spaced += ' ';
  }
  return spaced;
}

/// Maps words to numbers, consistently for a hypothesis and its references.
class WordIds {
 public:
  std::vector<std::int32_t> operator()(std::vector<std::string> words) {
    std::vector<std::int32_t> numbers;
    numbers.reserve(words.size());
    for (std::string& word : words)
      numbers.push_back(
          numbers_.try_emplace(std::move(word), static_cast<std::int32_t>(numbers_.size())).first->second);
    return numbers;
  }

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  for (std::size_t i = 0; i < kOrder; ++i) matches[i] += other.matches[i], totals[i] += other.totals[i];
  hypothesis_words += other.hypothesis_words;
  reference_words += other.reference_words;
  return *this;
}

std::vector<std::string> tokenize_13a(std::string_view line) {
  std::string text(line.substr(0, line.find_last_not_of(" \t\n\v\f\r") + 1));
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");

  std::string spaced = " ";
  for (const char c : text) is_symbol(c) ? spaced.append({' ', c, ' '}) : spaced.append(1, c);
  spaced += ' ';
  // Separates points and commas, except between digits, and a dash after a digit.
  spaced = space_pairs(
      spaced, [](char a, char b) { return !is_digit(a) && is_point(b); }, false, true);
  spaced = space_pairs(
      spaced, [](char a, char b) { return is_point(a) && !is_digit(b); }, true, false);
  spaced = space_pairs(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; }, false, true);

  const std::vector<std::string_view> words = split_words(spaced);
  return {words.begin(), words.end()};
}

BleuStatistics bleu_statistics(std::string_view hypothesis, std::span<const std::string_view> references) {
  using Words = Ngrams<std::int32_t>;
  WordIds numbers;
  const Words given(numbers(tokenize_13a(hypothesis)), BleuStatistics::kOrder);
  std::vector<Words> expected;
  for (const std::string_view reference : references)
    expected.emplace_back(numbers(tokenize_13a(reference)), BleuStatistics::kOrder);

  BleuStatistics found;
  found.hypothesis_words = given.total(1);
  const auto distance = [&](const Words& reference) {
    return std::pair(std::abs(reference.total(1) - given.total(1)), reference.total(1));
  };
  if (!expected.empty()) found.reference_words = std::ranges::min_element(expected, {}, distance)->total(1);
  for (std::size_t n = 1; n <= BleuStatistics::kOrder; ++n) {
    found.totals[n - 1] = given.total(n);
    given.each(n, [&](std::span<const std::int32_t> ngram, std::int64_t count) {
      std::int64_t most = 0;
      for (const Words& reference : expected) most = std::max(most, reference.count(ngram));
      found.matches[n - 1] += std::min(count, most);
    });
  }
  return found;
}

std::vector<BleuStatistics> bleu_statistics(std::span<const std::string> hypotheses, const References& references) {
  check_references("bleu", hypotheses, references);
  std::vector<BleuStatistics> found(hypotheses.size());
  parallel_for(static_cast<std::int64_t>(found.size()), 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      found[i] = bleu_statistics(hypotheses[i], references_of(references, i));
  });
  return found;
}

BleuScore bleu_score(const BleuStatistics& statistics, bool effective_order) {
  BleuScore result;
  result.hypothesis_words = statistics.hypothesis_words;
  result.reference_words = statistics.reference_words;
  const auto given = static_cast<double>(statistics.hypothesis_words);
  const auto expected = static_cast<double>(statistics.reference_words);
  result.brevity_penalty = given >= expected ? 1 : given > 0 ? std::exp(1 - expected / given) : 0;
  if (std::ranges::all_of(statistics.matches, [](std::int64_t count) { return count == 0; })) return result;

  double unseen = 1, logarithms = 0;
  std::size_t order = 0;
  for (; order < BleuStatistics::kOrder && statistics.totals[order] > 0; ++order) {
    const auto total = static_cast<double>(statistics.totals[order]);
    const auto matches = static_cast<double>(statistics.matches[order]);
    result.precisions[order] = matches > 0 ? 100 * matches / total : 100 / ((unseen *= 2) * total);
    logarithms += std::log(result.precisions[order]);
  }
  if (order == BleuStatistics::kOrder || effective_order)
    result.score = result.brevity_penalty * std::exp(logarithms / static_cast<double>(order));
  return result;
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses, const References& references) {
  BleuStatistics sum;
  for (const BleuStatistics& sentence : bleu_statistics(hypotheses, references)) sum += sentence;
  return bleu_score(sum);
}

std::string BleuScore::details() const {
  const double ratio =
      reference_words > 0 ? static_cast<double>(hypothesis_words) / static_cast<double>(reference_words) : 0;
  std::array<char, 192> text{};
  std::snprintf(text.data(), text.size(), "%.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)",
                precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
                static_cast<long long>(hypothesis_words), static_cast<long long>(reference_words));
  return text.data();
}

std::string bleu_signature(std::size_t references, const std::string& resampling, bool effective_order) {
  return "nrefs:" + std::to_string(references) + resampling + "|case:mixed|eff:" + (effective_order ? "yes" : "no") +
         "|tok:13a|smooth:exp|version:attend-" + version();
}

}  // namespace attend
