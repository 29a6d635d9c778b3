#include "attend/decode/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

struct Candidate {
  double sum;        // log-probability of the whole hypothesis
  std::size_t beam;  // which hypothesis it continues
  std::int32_t word;
  bool operator<(const Candidate& other) const {  // better ones first
    return sum != other.sum ? sum > other.sum : beam != other.beam ? beam < other.beam : word < other.word;
  }
};

/// The best `count` words after one hypothesis, best first.
void best_words(std::span<const float> log_probabilities, double sum, std::size_t beam, std::size_t count,
                std::vector<Candidate>& best) {
  best.clear();
  for (std::size_t w = 0; w < log_probabilities.size(); ++w) {
    const Candidate candidate{sum + log_probabilities[w], beam, static_cast<std::int32_t>(w)};
    if (std::isinf(log_probabilities[w]) || (best.size() == count && !(candidate < best.back()))) continue;
    if (best.size() == count) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), candidate), candidate);
  }
}

double normalised(double sum, std::size_t length, double penalty) {
  return sum / std::pow(static_cast<double>(std::max<std::size_t>(length, 1)), penalty);
}

/// One sentence: its live hypotheses, which are neighbouring rows of the stepper, and those that are done.
struct Sentence {
  std::size_t index;
  std::vector<Hypothesis> live, done;

  /// Whether no live hypothesis can still beat what is done.
  bool settled(const SearchOptions& options) const {
    if (live.empty()) return true;
    if (done.size() < static_cast<std::size_t>(options.beam)) return false;
    double worst = std::numeric_limits<double>::infinity();
    for (const Hypothesis& hypothesis : done) worst = std::min(worst, hypothesis.score);
    return worst >= normalised(live.front().log_probability, live.front().ids.size(), options.length_penalty);
  }
};

class Search {
 public:
  Search(Stepper& stepper, std::int64_t sentences, const SearchOptions& options)
      : stepper_(stepper), options_(options), results_(static_cast<std::size_t>(sentences)) {
    for (std::size_t i = 0; i < results_.size(); ++i) open_.push_back({i, {Hypothesis{}}, {}});
  }

  std::vector<std::vector<Hypothesis>> run() {
    const NoGrad no_grad;
    for (std::int64_t length = 1; !open_.empty() && length <= options_.max_new_tokens; ++length) advance();
    for (Sentence& sentence : open_) close(sentence);
    return std::move(results_);
  }

 private:
  void advance() {
    std::vector<std::int32_t> words;
    std::vector<std::size_t> first_row;
    for (const Sentence& sentence : open_) {
      first_row.push_back(words.size());
      for (const Hypothesis& h : sentence.live) words.push_back(h.ids.empty() ? options_.start : h.ids.back());
    }
    const auto rows = static_cast<std::int64_t>(words.size());
    const Tensor scores = log_softmax(stepper_.step(Tensor::ids(words, {rows})));
    const auto V = static_cast<std::size_t>(scores.dim(1));
    for (const std::int32_t never : options_.never)
      for (std::size_t r = 0; r < words.size(); ++r)
        if (never >= 0 && static_cast<std::size_t>(never) < V)
          scores.data()[r * V + static_cast<std::size_t>(never)] = -std::numeric_limits<float>::infinity();
    const Tensor attention = options_.remember_attention ? stepper_.attention() : Tensor();

    // Twice as many candidates as beams: if half of them end their sentence, enough remain.
    const auto wanted = static_cast<std::size_t>(2 * options_.beam);
    std::vector<std::vector<Candidate>> best(words.size());
    parallel_tasks(static_cast<std::int64_t>(open_.size()), [&](std::int64_t s) {
      const Sentence& sentence = open_[static_cast<std::size_t>(s)];
      for (std::size_t b = 0; b < sentence.live.size(); ++b) {
        const std::size_t row = first_row[static_cast<std::size_t>(s)] + b;
        best_words({scores.data() + row * V, V}, sentence.live[b].log_probability, b, wanted, best[row]);
      }
    });

    std::vector<Sentence> still_open;
    std::vector<std::int64_t> kept;  // rows
    for (std::size_t s = 0; s < open_.size(); ++s) {
      std::vector<Candidate> candidates;
      for (std::size_t b = 0; b < open_[s].live.size(); ++b)
        candidates.insert(candidates.end(), best[first_row[s] + b].begin(), best[first_row[s] + b].end());
      std::sort(candidates.begin(), candidates.end());
      Sentence next{open_[s].index, {}, std::move(open_[s].done)};
      std::vector<std::int64_t> next_rows;
      for (std::size_t c = 0; c < std::min(candidates.size(), wanted); ++c) {
        const Candidate& candidate = candidates[c];
        const auto row = first_row[s] + candidate.beam;
        if (candidate.word == options_.end) {
          // One that ends counts only if it would have been kept had it gone on.
          if (c < static_cast<std::size_t>(options_.beam))
            next.done.push_back(extended(open_[s].live[candidate.beam], candidate, attention, row, true));
        } else if (next.live.size() < static_cast<std::size_t>(options_.beam)) {
          next.live.push_back(extended(open_[s].live[candidate.beam], candidate, attention, row, false));
          next_rows.push_back(static_cast<std::int64_t>(row));
        }
      }
      if (next.settled(options_) || (options_.beam == 1 && !next.done.empty())) {
        next.live.clear();
        close(next);
      } else {
        kept.insert(kept.end(), next_rows.begin(), next_rows.end());
        still_open.push_back(std::move(next));
      }
    }
    open_ = std::move(still_open);
    if (!open_.empty()) stepper_.select(kept);
  }

  Hypothesis extended(const Hypothesis& from, const Candidate& by, const Tensor& attention, std::size_t row,
                      bool finished) const {
    Hypothesis longer = from;
    longer.ids.push_back(by.word);
    longer.log_probability = by.sum;
    longer.score = normalised(by.sum, longer.ids.size(), options_.length_penalty);
    longer.finished = finished;
    if (attention.defined()) {
      const auto S = static_cast<std::size_t>(attention.dim(1));
      const float* weights = attention.data() + row * S;
      longer.attention.emplace_back(weights, weights + S);
    }
    return longer;
  }

  void close(Sentence& sentence) {
    std::vector<Hypothesis>& all = sentence.done;
    if (all.size() < static_cast<std::size_t>(options_.nbest))
      std::ranges::move(sentence.live, std::back_inserter(all));
    std::ranges::stable_sort(all, [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    if (all.size() > static_cast<std::size_t>(options_.nbest)) all.resize(static_cast<std::size_t>(options_.nbest));
    results_[sentence.index] = std::move(all);
  }

  Stepper& stepper_;
  const SearchOptions& options_;
  std::vector<Sentence> open_;
  std::vector<std::vector<Hypothesis>> results_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::int64_t sentences, const SearchOptions& options) {
  if (options.beam < 1 || options.nbest < 1 || options.nbest > options.beam)
    fail<InputError>("search", "a beam has at least one hypothesis, and gives out at most as many as it has: got beam ",
                     options.beam, " and nbest ", options.nbest);
  return Search(stepper, sentences, options).run();
}

}  // namespace attend
