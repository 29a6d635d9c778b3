#include "attend/decode/alignment.h"

#include <algorithm>

#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// What the tokens of a text are to its words.
struct Words {
  std::vector<std::size_t> of_token;  // the word of each token that has a vote, or kNone
  std::size_t count = 0;
};

/// A token belongs to the word of its first byte that is no white space. Marks that stand at a word have no vote: all
/// words like to look at them.
Words words_of(std::string_view text, const std::vector<Span>& spans) {
  Words words;
  std::vector<std::size_t> of_byte(text.size(), kNone);
  std::vector<bool> is_mark(text.size()), only_marks;
  bool between = true;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (!is_space(c.value)) {
      if (between) ++words.count, only_marks.push_back(true);
      is_mark[i] = properties(c.value) & property::kPunctuation;
      if (!is_mark[i]) only_marks.back() = false;
      std::fill_n(of_byte.begin() + static_cast<std::ptrdiff_t>(i), c.size, words.count - 1);
    }
    between = is_space(c.value);
    i += static_cast<std::size_t>(c.size);
  }
  for (const Span& span : spans) {
    std::size_t word = kNone;
    bool marks = true;
    for (auto i = static_cast<std::size_t>(span.begin); i < std::min(static_cast<std::size_t>(span.end), text.size());
         i += static_cast<std::size_t>(decode_utf8(text, i).size)) {
      if (of_byte[i] == kNone) continue;
      if (word == kNone) word = of_byte[i];
      if (!is_mark[i]) marks = false;
    }
    words.of_token.push_back(word != kNone && marks && !only_marks[word] ? kNone : word);
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
