#include "attend/tasks/translation/alignment.h"

#include <algorithm>

#include "attend/text/unicode.h"
#include "attend/text/words.h"

namespace attend {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// The words of the tokens of a text.
struct Words {
  std::vector<std::size_t> of_token;  // the word of each token that has a vote, or kNone
  std::size_t count = 0;
};

/// Whether a part of a text is punctuation and white space only.
bool only_marks(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (!is_space(c.value) && !(properties(c.value) & property::kPunctuation)) return false;
    i += static_cast<std::size_t>(c.size);
  }
  return true;
}

/// Punctuation at a word has no vote, since all words attend to it. Punctuation that is a word by itself has one.
Words words_of(std::string_view text, const std::vector<Span>& spans) {
  Words words{{}, count_words(text)};
  const std::vector<std::int32_t> numbers = words_of_tokens(text, spans);
  std::vector<bool> is_mark, is_word_of_marks(words.count, true);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto begin = std::min(static_cast<std::size_t>(spans[i].begin), text.size());
    is_mark.push_back(only_marks(text.substr(begin, static_cast<std::size_t>(spans[i].end - spans[i].begin))));
    if (numbers[i] >= 0 && !is_mark.back()) is_word_of_marks[static_cast<std::size_t>(numbers[i])] = false;
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto word = static_cast<std::size_t>(numbers[i]);
    words.of_token.push_back(numbers[i] >= 0 && (!is_mark[i] || is_word_of_marks[word]) ? word : kNone);
  }
  return words;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> align_words(const std::string& source,
                                                             const Translation& translation) {
  const Words sources = words_of(source, translation.source_spans);
  const Words targets = words_of(translation.text, translation.target_spans);
  std::vector<std::vector<float>> votes(targets.count, std::vector<float>(sources.count));
  for (std::size_t t = 0; t < translation.attention.size(); ++t)
    for (std::size_t s = 0; s < translation.attention[t].size(); ++s)
      if (targets.of_token[t] != kNone && sources.of_token[s] != kNone)
        votes[targets.of_token[t]][sources.of_token[s]] += translation.attention[t][s];
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t t = 0; t < votes.size(); ++t)
    if (const auto best = std::ranges::max_element(votes[t]); best != votes[t].end() && *best > 0)
      pairs.emplace_back(static_cast<std::size_t>(best - votes[t].begin()), t);
  return pairs;
}

}  // namespace attend
