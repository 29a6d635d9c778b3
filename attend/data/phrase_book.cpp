#include "attend/data/phrase_book.h"

#include <unordered_set>

#include "attend/core/error.h"
#include "attend/data/phrases/grammar.h"
#include "attend/data/split.h"

namespace attend {
namespace {

constexpr std::int64_t kMost = 2'000'000;  // beyond, new sentences become rare

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : seed_(seed) {}

  void keep_apart(std::string_view source) { seen_.insert(split_key(source)); }
  /// The next sentence that was not there before.
  PhrasePair next() {
    for (;;) {
      phrases::Dice dice({seed_, stream_++});
      phrases::Text text = phrases::some_sentence(dice);
      if (seen_.insert(split_key(text.italian)).second) return {std::move(text.italian), std::move(text.english)};
    }
  }

 private:
  std::uint64_t seed_, stream_ = 0;
  std::unordered_set<std::string> seen_;
};

}  // namespace

PhraseBook phrase_book(const PhraseBookOptions& options) {
  if (options.pairs < 0 || options.held_out < 0 || options.pairs + options.held_out > kMost)
    fail<InputError>("phrase book", "cannot give ", options.pairs, " pairs and ", options.held_out,
                     " held out: it has ", kMost);
  PhraseBook book;
  Drawer drawer(options.seed);
  const auto formulas = phrases::formulas();
  for (const phrases::Translated& formula : formulas) drawer.keep_apart(formula.italian);
  for (std::int64_t i = 0; i < options.held_out; ++i) book.held_out.push_back(drawer.next());
  // What has to be known by heart cannot be asked for: formulas are only learned.
  for (std::int64_t i = 0; i < options.pairs; ++i) {
    if (static_cast<std::size_t>(i) < formulas.size())
      book.training.push_back({std::string(formulas[i].italian), std::string(formulas[i].english)});
    else
      book.training.push_back(drawer.next());
  }
  return book;
}

}  // namespace attend
