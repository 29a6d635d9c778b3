#include "attend/decode/search.h"

#include <utility>

#include "attend/decode/sentence_search.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// Sentences from their beginnings until all are done; those that are leave the batch.
class Search {
 public:
  Search(Stepper& stepper, std::span<const SearchInput> inputs, const SearchOptions& options, const SearchWatch& watch)
      : stepper_(stepper), options_(options), results_(inputs.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) open_.push_back({i, {inputs[i], i, options, watch}});
  }

  std::vector<std::vector<Hypothesis>> run() {
    const NoGrad no_grad;
    while (!open_.empty()) advance();
    return std::move(results_);
  }

 private:
  struct Open {
    std::size_t index;
    SentenceSearch sentence;
  };

  void advance() {
    std::vector<std::vector<NextWord>> next = next_words();
    std::vector<Open> still_open;
    std::vector<std::int64_t> kept;  // rows
    std::size_t first_row = 0;
    for (Open& open : open_) {
      SentenceSearch& sentence = open.sentence;
      const std::size_t rows = sentence.rows();
      sentence.extend(std::span(next).subspan(first_row, rows));
      for (std::size_t row = 0; row < sentence.rows(); ++row)
        kept.push_back(static_cast<std::int64_t>(first_row + sentence.origin(row)));
      if (sentence.rows() > 0)
        still_open.push_back(std::move(open));
      else
        results_[open.index] = sentence.take_results();
      first_row += rows;
    }
    open_ = std::move(still_open);
    if (!open_.empty()) stepper_.select(kept);
  }

  /// The words that may follow each live hypothesis of all sentences, best first.
  std::vector<std::vector<NextWord>> next_words() {
    std::vector<std::int32_t> last;
    std::vector<LogitsContext> contexts;
    for (const Open& open : open_)
      for (std::size_t row = 0; row < open.sentence.rows(); ++row) {
        contexts.push_back(open.sentence.context(row));
        last.push_back(contexts.back().words.back());
      }
    const Tensor logits = stepper_.step(Tensor::ids(last, {std::ssize(last)}));
    if (!std::exchange(checked_, true)) check_words(options_, logits.dim(1));
    const SentenceSearch& any = open_.front().sentence;
    return best_words(logits, contexts, options_.rules, options_.ends, any.candidates(logits.dim(1)), any.score_kind());
  }

  Stepper& stepper_;
  const SearchOptions& options_;
  std::vector<Open> open_;
  std::vector<std::vector<Hypothesis>> results_;
  bool checked_ = false;  // that the options name words of the model's vocabulary
};

}  // namespace

std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::span<const SearchInput> sentences,
                                            const SearchOptions& options, const SearchWatch& watch) {
  check(options);
  return Search(stepper, sentences, options, watch).run();
}

std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::int64_t sentences, const SearchOptions& options) {
  return search(stepper, std::vector<SearchInput>(static_cast<std::size_t>(sentences)), options);
}

}  // namespace attend
