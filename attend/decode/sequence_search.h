// The search for one sequence: its hypotheses, and how the model's logits extend them. The engine runs many of them
// side by side.
#pragma once
#include <span>
#include <vector>

#include "attend/decode/logits.h"
#include "attend/decode/search.h"
#include "attend/decode/token_grammar.h"

namespace attend {

/// Throws InputError when an option is out of range, or options contradict each other.
void check(const SearchOptions& options);
/// Throws InputError when the options name tokens that a model does not have.
void check_tokens(const SearchOptions& options, std::int64_t vocabulary);

/// How many of the best tokens beam search takes from each hypothesis: enough to keep `beam` unfinished hypotheses,
/// even if each end token is among the best of every hypothesis.
std::int64_t beam_candidates(const SearchOptions& options);

class SequenceSearch {
 public:
  /// Options and callbacks must outlive this. Throws InputError when there is no room for a token.
  SequenceSearch(const SearchInput& input, const SearchOptions& options, const SearchCallbacks& callbacks);

  /// Unfinished hypotheses: each is a row of the batch.
  std::size_t rows() const { return live_.size(); }
  /// All tokens of a hypothesis so far, with the start token or the prompt.
  std::span<const std::int32_t> tokens(std::size_t row) const { return live_[row].tokens; }
  LogitsContext context(std::size_t row) const {
    return {live_[row].tokens, prompt_, max_length_, &live_[row].position};
  }
  /// How many of the best tokens of each row are needed, and by what they are compared.
  std::int64_t candidates(std::int64_t vocabulary) const;
  ScoreKind score_kind() const { return is_beam() ? ScoreKind::log_probabilities : ScoreKind::logits; }

  /// One step, given the tokens that may follow each row, best first.
  void extend(std::span<std::vector<NextToken>> next);
  /// After a step: which of the rows before it each row now continues.
  std::size_t origin(std::size_t row) const { return live_[row].row; }

  /// When there are no rows left: the nbest hypotheses.
  std::vector<Hypothesis> take_results();

 private:
  struct Live {
    std::vector<std::int32_t> tokens;
    double sum = 0;                         // of the log-probabilities behind the prompt
    std::size_t row = 0;                    // before the step
    std::size_t sample = 0;                 // which of the samples it becomes
    mutable GrammarPosition position = {};  // a cache

    Live followed_by(std::int32_t token, double log_probability, std::size_t from) const;
  };

  bool is_beam() const { return options_->beam > 1; }
  std::int64_t length() const { return std::ssize(live_.front().tokens); }
  bool ends(std::int32_t token) const;
  bool stops(const Live& live) const;
  double normalised(double sum, std::int64_t length) const;
  Hypothesis hypothesis(const Live& live, bool stopped = false) const;
  double random(const Live& live) const;
  void extend_each(std::span<std::vector<NextToken>> next);
  void extend_beam(std::span<const std::vector<NextToken>> next);
  bool settled() const;

  const SearchOptions* options_;
  const SearchCallbacks* callbacks_;
  std::vector<std::int32_t> prefix_;
  std::uint64_t stream_;
  std::int64_t read_;        // tokens of the prompt, or the start token
  std::int64_t prompt_;      // the same with the prefix
  std::int64_t max_length_;  // the prompt included
  std::vector<Live> live_;
  std::vector<Hypothesis> done_;  // of beam search: best first, at most `beam`
};

}  // namespace attend
