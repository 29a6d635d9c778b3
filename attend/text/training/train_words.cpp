#include "attend/text/training/train_words.h"

#include <algorithm>
#include <map>
#include <utility>

#include "attend/core/error.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

/// The most frequent words that fit beside the special tokens. Of equally frequent words, the first ones.
template <typename Counted>
void keep_frequent(std::vector<Counted>& counted, const WordTrainingOptions& options, const char* where) {
  std::erase_if(counted, [&](const Counted& item) { return item.count < options.min_frequency; });
  std::stable_sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  const auto room = options.vocab_size - static_cast<std::int64_t>(options.special.all().size());
  if (static_cast<std::int64_t>(counted.size()) > room)
    counted.resize(static_cast<std::size_t>(std::max<std::int64_t>(room, 0)));
  if (counted.empty())
    fail<InputError>(where, "nothing is left to learn: the text is empty, min_frequency (", options.min_frequency,
                     ") is too high, or vocab_size (", options.vocab_size, ") too low");
}

}  // namespace

Tokenizer train_words(const LineSource& lines, const WordTrainingOptions& options) {
  Tokenizer::Parts parts;
  if (options.lowercase) parts.normalizer.emplace_back(normalizer::Lowercase{});
  parts.pre_tokenizer.emplace_back(pre_tokenizer::Bert{});
  parts.decoder.emplace_back(decoder::WordPiece{});  // removes spaces before punctuation; no word has the prefix

  std::vector<WordCount> words = count_words(lines, parts.normalizer, parts.pre_tokenizer);
  keep_frequent(words, options, "train_words");
  std::vector<std::string> tokens(words.size());
  std::ranges::transform(words, tokens.begin(), [](WordCount& word) { return std::move(word.word); });
  parts.model = WordLevel(vocabulary_of(options.special, tokens), {.unk_token = options.special.unknown});
  set_special(parts, options.special, options.append_eos);
  return Tokenizer(std::move(parts));
}

Tokenizer train_characters(const LineSource& lines, const WordTrainingOptions& options) {
  Tokenizer::Parts parts;
  if (options.lowercase) parts.normalizer.emplace_back(normalizer::Lowercase{});
  parts.decoder.emplace_back(decoder::Fuse{});

  std::map<char32_t, std::int64_t> counts;
  for (std::string line; lines(line);) {
    const std::string text = normalized(parts.normalizer, replace_invalid_utf8(line));
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint letter = decode_utf8(text, at);
      ++counts[letter.value];
      at += static_cast<std::size_t>(letter.size);
    }
    ++counts[U'\n'];
  }
  struct Letter {
    char32_t value = 0;
    std::int64_t count = 0;
  };
  std::vector<Letter> letters;
  letters.reserve(counts.size());
  for (const auto& [value, count] : counts) letters.push_back({value, count});
  keep_frequent(letters, options, "train_characters");
  std::sort(letters.begin(), letters.end(), [](const Letter& a, const Letter& b) { return a.value < b.value; });

  std::vector<std::string> tokens;
  for (const Letter& letter : letters) append_utf8(letter.value, tokens.emplace_back());
  parts.model = Bpe(vocabulary_of(options.special, tokens), {},
                    {.unk_token = options.special.unknown, .continuing_subword_prefix = "", .end_of_word_suffix = ""});
  set_special(parts, options.special, options.append_eos);
  return Tokenizer(std::move(parts));
}

}  // namespace attend
