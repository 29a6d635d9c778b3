#include "attend/decode/alignment.h"

#include <algorithm>

namespace attend {
namespace {

constexpr std::size_t kNoWord = static_cast<std::size_t>(-1);

bool is_space(char c) { return c == ' ' || c == '\t'; }

/// The word that the bytes [begin, end) of a text belong to, by the first of them that is no space.
std::size_t word_at(const std::string& text, std::size_t begin, std::size_t end) {
  end = std::min(end, text.size());
  while (begin < end && is_space(text[begin])) ++begin;
  if (begin >= end) return kNoWord;
  std::size_t word = 0;
  for (std::size_t i = 1; i <= begin; ++i) word += is_space(text[i - 1]) && !is_space(text[i]) ? 1 : 0;
  return word - (is_space(text[0]) ? 1 : 0);
}

/// The words of a translation's tokens: each token is what the text grows by when it is decoded.
std::vector<std::size_t> words_of_target(const Tokenizer& tokenizer, const Translation& translation) {
  std::vector<std::size_t> words;
  StreamDecoder decoder(tokenizer);
  std::size_t begin = 0;
  for (const std::int32_t id : translation.ids) {
    const std::size_t end = begin + decoder.push(id).size();
    words.push_back(word_at(translation.text, begin, end));
    begin = end;
  }
  return words;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> align_words(const Translator& translator, const std::string& source,
                                                             const Translation& translation) {
  std::vector<std::size_t> source_words;
  for (const Span& span : translator.source_tokenizer().encode(source).spans)
    source_words.push_back(word_at(source, static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end)));
  const std::vector<std::size_t> target_words = words_of_target(translator.target_tokenizer(), translation);

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
