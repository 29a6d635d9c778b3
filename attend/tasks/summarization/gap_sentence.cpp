#include "attend/tasks/summarization/gap_sentence.h"

#include <algorithm>
#include <map>
#include <vector>

#include "attend/metrics/rouge.h"
#include "attend/text/sentences.h"

namespace attend {

std::optional<GapSentence> gap_sentence(std::string_view text) {
  const std::vector<Span> spans = sentences(text);
  if (spans.size() < 2) return {};
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    return text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  };
  using Counts = std::map<std::string, std::int64_t>;
  std::vector<Counts> counts(spans.size());
  std::vector<std::int64_t> words(spans.size());
  Counts all;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < spans.size(); ++i)
    for (std::string& word : rouge_words(part(spans[i].begin, spans[i].end), {.unicode = true}))
      ++all[word], ++counts[i][std::move(word)], ++words[i], ++total;
  std::size_t best = 0;
  double best_f = -1;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    std::int64_t matches = 0;
    for (const auto& [word, count] : counts[i]) matches += std::min(count, all[word] - count);
    // F1 = 2 matches / (words of the sentence + words of the others)
    const double f = total > 0 ? 2. * static_cast<double>(matches) / static_cast<double>(total) : -1;
    if (words[i] > 0 && words[i] < total && f > best_f) best = i, best_f = f;
  }
  if (best_f < 0) return {};
  const Span gap = spans[best];
  const std::int64_t end = best + 1 < spans.size() ? spans[best + 1].begin : std::ssize(text);
  return GapSentence{std::string(part(gap.begin, gap.end)),
                     std::string(part(0, gap.begin)) + std::string(part(end, std::ssize(text)))};
}

}  // namespace attend
