#include "attend/data/phrase_book.h"

#include <unordered_set>

#include "attend/core/error.h"
#include "attend/data/hash.h"
#include "attend/data/phrases/grammar.h"
#include "attend/data/split.h"

namespace attend {
namespace {

// Above this number, new sentences become rare.
constexpr std::int64_t kMost = 2'000'000, kMostHeldOut = 100'000;

/// One sentence in twenty is reserved for evaluation. This depends only on the sentence, so no training set has it.
bool is_for_judging(std::string_view key) { return hash_text(key).low % 20 == 0; }

class SentenceSampler {
 public:
  SentenceSampler(std::uint64_t seed, bool judging) : seed_(seed), judging_(judging) {}

  void leave_out(std::string_view source) { seen_.insert(split_key(source)); }
  /// The next new sentence, for training or for evaluation.
  PhrasePair next() {
    for (;;) {
      phrases::Dice dice({seed_, stream_++});
      phrases::Text text = phrases::some_sentence(dice);
      const std::string key = split_key(text.italian);
      if (is_for_judging(key) == judging_ && seen_.insert(key).second)
        return {std::move(text.italian), std::move(text.english)};
    }
  }

 private:
  std::uint64_t seed_, stream_ = 0;
  bool judging_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

PhraseBook phrase_book(const PhraseBookOptions& options) {
  if (options.pairs < 0 || options.held_out < 0 || options.pairs > kMost || options.held_out > kMostHeldOut)
    fail<InputError>("phrase book", "cannot give ", options.pairs, " pairs and ", options.held_out,
                     " held out: it has ", kMost, " and ", kMostHeldOut);
  PhraseBook book;
  SentenceSampler training(options.seed, false), held_out(options.seed, true);
  // Fixed expressions (Buongiorno!) must be memorised, so they are only in the training pairs.
  for (const phrases::Translated& formula : phrases::formulas()) {
    training.leave_out(formula.italian), held_out.leave_out(formula.italian);
    if (static_cast<std::int64_t>(book.training.size()) < options.pairs)
      book.training.push_back({std::string(formula.italian), std::string(formula.english)});
  }
  while (static_cast<std::int64_t>(book.training.size()) < options.pairs) book.training.push_back(training.next());
  while (static_cast<std::int64_t>(book.held_out.size()) < options.held_out) book.held_out.push_back(held_out.next());
  return book;
}

}  // namespace attend
