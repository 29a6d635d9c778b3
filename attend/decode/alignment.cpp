#include "attend/decode/alignment.h"

#include <algorithm>

namespace attend {
namespace {

constexpr std::size_t kNoWord = static_cast<std::size_t>(-1);

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// The word that each token belongs to, by the first byte of its span that is no space.
std::vector<std::size_t> words_of(const std::string& text, const std::vector<Span>& spans) {
  std::vector<std::size_t> word_of_byte(text.size(), kNoWord);
  for (std::size_t i = 0, word = kNoWord; i < text.size(); ++i) {
    if (is_space(text[i])) continue;
    if (i == 0 || is_space(text[i - 1])) ++word;
    word_of_byte[i] = word;
  }
  std::vector<std::size_t> words;
  for (const Span& span : spans) {
    std::size_t word = kNoWord;
    const std::size_t end = std::min(static_cast<std::size_t>(span.end), text.size());
    for (auto i = static_cast<std::size_t>(span.begin); i < end && word == kNoWord; ++i) word = word_of_byte[i];
    words.push_back(word);
  }
  return words;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> align_words(const std::string& source,
                                                             const Translation& translation) {
  const std::vector<std::size_t> source_words = words_of(source, translation.source_spans);
  const std::vector<std::size_t> target_words = words_of(translation.text, translation.target_spans);

  std::vector<std::vector<float>> votes;  // [target word][source word]
  for (std::size_t t = 0; t < std::min(target_words.size(), translation.attention.size()); ++t) {
    if (target_words[t] == kNoWord) continue;
    votes.resize(std::max(votes.size(), target_words[t] + 1));
    std::vector<float>& row = votes[target_words[t]];
    for (std::size_t s = 0; s < std::min(source_words.size(), translation.attention[t].size()); ++s) {
      if (source_words[s] == kNoWord) continue;
      row.resize(std::max(row.size(), source_words[s] + 1));
      row[source_words[s]] += translation.attention[t][s];
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t t = 0; t < votes.size(); ++t)
    if (const auto best = std::ranges::max_element(votes[t]); best != votes[t].end() && *best > 0)
      pairs.emplace_back(static_cast<std::size_t>(best - votes[t].begin()), t);
  return pairs;
}

}  // namespace attend
