#include "attend/metrics/chrf.h"

#include <algorithm>
#include <sstream>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/core/version.h"
#include "attend/metrics/ngrams.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

std::size_t orders_of(const ChrfOptions& options) {
  constexpr int kMost = ChrfStatistics::kMaxOrders;
  if (options.characters < 1 || options.words < 0 || options.characters > kMost ||
      options.words > kMost - options.characters)
    fail<InputError>("chrf", "invalid n-gram orders: got ", options.characters, " for characters and ", options.words,
                     " for words, expected at least 1 for characters and at most ", kMost, " in total");
  return static_cast<std::size_t>(options.characters) + static_cast<std::size_t>(options.words);
}

std::vector<char32_t> characters_of(std::string_view text, bool white_space) {
  std::vector<char32_t> characters;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (white_space || !is_white_space(c.value)) characters.push_back(c.value);
    at += static_cast<std::size_t>(c.size);
  }
  return characters;
}

/// Python's string.punctuation: all ASCII punctuation.
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// The words of chrF++: one punctuation mark is split from the end of a word, or else from its beginning.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split_words(text)) {
    if (word.size() > 1 && is_punctuation(word.back())) {
      words.push_back(word.substr(0, word.size() - 1));
      words.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && is_punctuation(word.front())) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  }
  return words;
}

/// The n-grams of a hypothesis or a reference. Keeps views of the text.
struct Side {
  Ngrams<char32_t> characters;
  Ngrams<std::string_view> words;

  Side(std::string_view text, const ChrfOptions& options)
      : characters(characters_of(text, options.white_space), static_cast<std::size_t>(options.characters)),
        words(options.words > 0 ? words_of(text) : std::vector<std::string_view>(),
              static_cast<std::size_t>(options.words)) {}
};

template <typename T>
ChrfStatistics::Counts compare(const Ngrams<T>& hypothesis, const Ngrams<T>& reference, std::size_t n) {
  ChrfStatistics::Counts counts{hypothesis.total(n), reference.total(n), 0};
  if (counts.reference == 0) return {};  // as in sacreBLEU, an order without n-grams in the reference is ignored
  hypothesis.each(n, [&](std::span<const T> ngram, std::int64_t count) {
    counts.matches += std::min(count, reference.count(ngram));
  });
  return counts;
}

}  // namespace

ChrfStatistics& ChrfStatistics::operator+=(const ChrfStatistics& other) {
  for (std::size_t i = 0; i < kMaxOrders; ++i) {
    orders[i].hypothesis += other.orders[i].hypothesis;
    orders[i].reference += other.orders[i].reference;
    orders[i].matches += other.orders[i].matches;
  }
  return *this;
}

ChrfStatistics chrf_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const ChrfOptions& options) {
  orders_of(options);
  const Side given(hypothesis, options);
  ChrfStatistics best;
  double best_score = -1;
  for (const std::string_view reference : references) {
    const Side expected(reference, options);
    ChrfStatistics found;
    std::size_t order = 0;
    for (int n = 1; n <= options.characters; ++n)
      found.orders[order++] = compare(given.characters, expected.characters, static_cast<std::size_t>(n));
    for (int n = 1; n <= options.words; ++n)
      found.orders[order++] = compare(given.words, expected.words, static_cast<std::size_t>(n));
    if (const double score = chrf_score(found, options); score > best_score) best_score = score, best = found;
  }
  return best;
}

std::vector<ChrfStatistics> chrf_statistics(std::span<const std::string> hypotheses, const References& references,
                                            const ChrfOptions& options) {
  check_references("chrf", hypotheses, references);
  std::vector<ChrfStatistics> found(hypotheses.size());
  parallel_for(static_cast<std::int64_t>(found.size()), 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      found[i] = chrf_statistics(hypotheses[i], references_of(references, i), options);
  });
  return found;
}

double chrf_score(const ChrfStatistics& statistics, const ChrfOptions& options) {
  double precision = 0, recall = 0;
  int counted = 0;
  for (const ChrfStatistics::Counts& counts : std::span(statistics.orders).first(orders_of(options))) {
    if (counts.hypothesis == 0 || counts.reference == 0) continue;
    precision += static_cast<double>(counts.matches) / static_cast<double>(counts.hypothesis);
    recall += static_cast<double>(counts.matches) / static_cast<double>(counts.reference);
    ++counted;
  }
  if (precision + recall == 0) return 0;
  precision /= counted;
  recall /= counted;
  const double weight = options.beta * options.beta;
  return 100 * (1 + weight) * precision * recall / (weight * precision + recall);
}

double corpus_chrf(std::span<const std::string> hypotheses, const References& references, const ChrfOptions& options) {
  ChrfStatistics sum;
  for (const ChrfStatistics& sentence : chrf_statistics(hypotheses, references, options)) sum += sentence;
  return chrf_score(sum, options);
}

std::string chrf_name(const ChrfOptions& options) {
  std::ostringstream name;
  name << "chrF" << options.beta << std::string(static_cast<std::size_t>(options.words), '+');
  return name.str();
}

std::string chrf_signature(std::size_t references, const std::string& resampling, const ChrfOptions& options) {
  return "nrefs:" + std::to_string(references) + resampling +
         "|case:mixed|eff:yes|nc:" + std::to_string(options.characters) + "|nw:" + std::to_string(options.words) +
         "|space:" + (options.white_space ? "yes" : "no") + "|version:attend-" + version();
}

}  // namespace attend
