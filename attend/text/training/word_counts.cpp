#include "attend/text/training/word_counts.h"

#include <algorithm>
#include <utility>

#include "attend/core/threads.h"
#include "attend/text/aligned_text.h"
#include "attend/text/byte_level.h"
#include "attend/text/unicode.h"
#include "attend/text/vocabulary.h"

namespace attend {
namespace {

constexpr std::size_t kBatchBytes = 1 << 22;

/// The counts of one thread.
class Counter {
 public:
  void count(std::string_view line, const Normalizer& normalizer, const PreTokenizer& pre_tokenizer) {
    std::string repaired;
    if (count_invalid_utf8(line) > 0) line = repaired = replace_invalid_utf8(line);
    AlignedText text(line, false);
    normalize(normalizer, text);
    found_.assign(1, {0, text.text().size()});
    pre_tokenize(pre_tokenizer, text, found_, 0, true);
    for (const Word& word : found_) add(text.text().substr(word.begin, word.end - word.begin), 1);
  }

  void add(std::string_view word, std::int64_t count) {
    if (const auto id = words_.id(word)) {
      counts_[static_cast<std::size_t>(*id)] += count;
    } else {
      words_.add(word, static_cast<std::int32_t>(counts_.size()));
      counts_.push_back(count);
    }
  }

  void add(const Counter& other) {
    for (std::size_t id = 0; id < other.counts_.size(); ++id)
      add(other.words_.token(static_cast<std::int32_t>(id)), other.counts_[id]);
  }

  std::vector<WordCount> result() const {
    std::vector<WordCount> result;
    result.reserve(counts_.size());
    for (std::size_t id = 0; id < counts_.size(); ++id)
      result.push_back({std::string(words_.token(static_cast<std::int32_t>(id))), counts_[id]});
    return result;
  }

 private:
  Vocabulary words_;  // ids in order of occurrence
  std::vector<std::int64_t> counts_;
  std::vector<Word> found_;
};

}  // namespace

std::vector<WordCount> count_words(const LineSource& lines, const Normalizer& normalizer,
                                   const PreTokenizer& pre_tokenizer) {
  std::vector<Counter> counters(static_cast<std::size_t>(threads()));
  std::vector<std::string> batch;
  for (bool more = true; more;) {
    std::size_t used = 0;
    for (std::size_t bytes = 0; bytes < kBatchBytes; ++used) {
      if (used == batch.size()) batch.emplace_back();
      if (!(more = lines(batch[used]))) break;
      bytes += batch[used].size() + 1;
    }
    parallel_tasks(static_cast<std::int64_t>(counters.size()), [&](std::int64_t task) {
      const auto part = static_cast<std::size_t>(task);
      for (std::size_t at = used * part / counters.size(); at < used * (part + 1) / counters.size(); ++at)
        counters[part].count(batch[at], normalizer, pre_tokenizer);
    });
  }
  for (std::size_t other = 1; other < counters.size(); ++other)
    counters.front().add(std::exchange(counters[other], {}));

  std::vector<WordCount> result = counters.front().result();
  if (!pre_tokenizer.empty() && std::holds_alternative<pre_tokenizer::ByteLevel>(pre_tokenizer.back()))
    for (WordCount& word : result) word.word = to_byte_letters(word.word);
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.word < b.word; });
  return result;
}

}  // namespace attend
