#include "attend/decode/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "attend/core/error.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// A hypothesis in the making.
struct Live {
  std::vector<std::int32_t> words;  // with the start, or what was read
  double sum = 0;                   // of the log-probabilities behind the prompt
  std::size_t row = 0;              // before the step, counted from the sentence's first
  std::size_t sample = 0;           // which of the samples it becomes

  Live followed_by(std::int32_t word, double log_probability, std::size_t from) const {
    Live longer{words, sum + log_probability, from, sample};
    longer.words.push_back(word);
    return longer;
  }
};

/// One sentence: its live hypotheses, which are neighbouring rows of the stepper, and those that are done.
struct Sentence {
  std::size_t index;
  std::int64_t read;        // words of the start, or of what was read in its place
  std::int64_t prompt;      // the same, and those of the prefix
  std::int64_t max_length;  // the prompt included
  std::vector<Live> live = {};
  std::vector<Hypothesis> done = {};  // of a beam: the best first, at most as many as it is wide

  std::int64_t length() const { return static_cast<std::int64_t>(live.front().words.size()); }
};

class Search {
 public:
  Search(Stepper& stepper, std::span<const SearchInput> inputs, const SearchOptions& options, const SearchWatch& watch)
      : stepper_(stepper), inputs_(inputs), options_(options), watch_(watch), results_(inputs.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::vector<std::int32_t> words = inputs[i].prompt;
      if (words.empty()) words.push_back(options.start);
      const std::int64_t read = std::ssize(words), prompt = read + std::ssize(inputs[i].prefix);
      const std::int64_t more = inputs[i].max_new_tokens > 0 ? inputs[i].max_new_tokens : options.max_new_tokens;
      const std::int64_t max_length = more > 0 ? prompt + more : options.max_length;
      if (max_length <= prompt)
        fail<InputError>("search", "start and prefix leave no room for a word: got ", prompt,
                         " of them, expected less than the length allowed, ", max_length);
      open_.push_back({i, read, prompt, max_length, {Live{std::move(words)}}});
    }
  }

  std::vector<std::vector<Hypothesis>> run() {
    const NoGrad no_grad;
    while (!open_.empty()) advance();
    return std::move(results_);
  }

 private:
  bool is_beam() const { return options_.beam > 1; }

  void advance() {
    std::vector<std::vector<NextWord>> next = next_words();
    std::vector<Sentence> still_open;
    std::vector<std::int64_t> kept;  // rows
    std::size_t first_row = 0;
    for (Sentence& sentence : open_) {
      const std::span words = std::span(next).subspan(first_row, sentence.live.size());
      const std::size_t next_sentence = first_row + sentence.live.size();
      if (sentence.length() < sentence.prompt)
        sentence.live.front().words.push_back(prefix_word(sentence));
      else if (is_beam())
        extend_beam(sentence, words);
      else
        extend_each(sentence, words);
      for (const Live& live : sentence.live) kept.push_back(static_cast<std::int64_t>(first_row + live.row));
      if (!sentence.live.empty())
        still_open.push_back(std::move(sentence));
      else
        close(sentence);
      first_row = next_sentence;
    }
    open_ = std::move(still_open);
    if (!open_.empty()) stepper_.select(kept);
  }

  /// Every word that the options name must be one of the model's.
  void check_ids(std::int64_t vocabulary) {
    const auto check = [&](const char* what, std::span<const std::int32_t> ids) {
      for (const std::int32_t id : ids)
        if (id < 0 || id >= vocabulary)
          fail<InputError>("search", what, ": there is no word ", id, ", expected 0 to ", vocabulary - 1);
    };
    const LogitsRules& rules = options_.rules;
    check("the end of a sentence", options_.ends);
    if (rules.forced_first) check("the forced first word", std::span(&*rules.forced_first, 1));
    check("the forced last word", rules.forced_last);
    check("the suppressed words", rules.suppressed);
    check("the suppressed first words", rules.suppressed_first);
    for (const std::vector<std::int32_t>& words : rules.bad_words) check("the bad words", words);
    checked_ = true;
  }

  std::int32_t prefix_word(const Sentence& sentence) const {
    return inputs_[sentence.index].prefix[static_cast<std::size_t>(sentence.length() - sentence.read)];
  }

  /// The words that may follow each live hypothesis of all sentences, best first.
  std::vector<std::vector<NextWord>> next_words() {
    std::vector<std::int32_t> last;
    std::vector<LogitsContext> contexts;
    for (const Sentence& sentence : open_)
      for (const Live& live : sentence.live) {
        last.push_back(live.words.back());
        contexts.push_back({live.words, sentence.prompt, sentence.max_length});
      }
    const Tensor logits = stepper_.step(Tensor::ids(last, {static_cast<std::int64_t>(last.size())}));
    if (!checked_) check_ids(logits.dim(1));
    std::int64_t count = 1;
    if (is_beam())
      count = beam_candidates();
    else if (options_.sample)
      count = options_.sampling.top_k > 0 ? options_.sampling.top_k : logits.dim(1);
    return best_words(logits, contexts, options_.rules, options_.ends, count,
                      is_beam() ? ScoreKind::log_probabilities : ScoreKind::logits);
  }

  /// So many that a beam of them goes on even if every hypothesis could end in all possible ways.
  std::int64_t beam_candidates() const {
    return std::max<std::int64_t>(2, 1 + static_cast<std::int64_t>(options_.ends.size())) * options_.beam;
  }

  bool ends(std::int32_t word) const { return std::ranges::find(options_.ends, word) != options_.ends.end(); }

  bool stops(const Sentence& sentence, const Live& live) const {
    return watch_.stops && watch_.stops(std::span(live.words).subspan(static_cast<std::size_t>(sentence.prompt)));
  }

  double normalised(double sum, std::int64_t length) const {
    return sum / std::pow(static_cast<double>(length), options_.length_penalty);
  }

  Hypothesis hypothesis(const Sentence& sentence, const Live& live, bool stopped = false) const {
    const auto words = static_cast<std::int64_t>(live.words.size());
    const std::int64_t length = words - sentence.prompt;
    const bool forced = !options_.rules.forced_last.empty() && words == sentence.max_length;
    return {{live.words.begin() + sentence.read, live.words.end()},
            live.sum,
            normalised(live.sum, std::max<std::int64_t>(length, 1)),
            length > 0 && ends(live.words.back()) && !forced,
            stopped};
  }

  /// Greedy search and sampling: every hypothesis goes its own way.
  void extend_each(Sentence& sentence, std::span<std::vector<NextWord>> next) {
    std::vector<Live> before = std::move(sentence.live);
    sentence.live.clear();
    if (sentence.done.empty()) {  // the first step: all samples come from one row
      sentence.done.resize(static_cast<std::size_t>(options_.nbest));
      before.resize(sentence.done.size(), before.front());
      for (std::size_t s = 0; s < before.size(); ++s) before[s].sample = s;
    }
    std::vector<std::vector<double>> odds(next.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::size_t row = std::min(i, next.size() - 1);
      if (options_.sample && odds[row].empty()) odds[row] = chances(next[row], options_.sampling);
      Hypothesis& done = sentence.done[before[i].sample];
      if (next[row].empty()) {  // the rules leave nothing to be said
        done = hypothesis(sentence, before[i]);
        continue;
      }
      const NextWord& word = next[row][options_.sample ? draw(odds[row], random(sentence, before[i])) : 0];
      Live longer = before[i].followed_by(word.id, word.log_probability, row);
      if (watch_.said) watch_.said(sentence.index, longer.sample, word.id);
      const bool stopped = stops(sentence, longer);
      if (stopped || ends(word.id) || static_cast<std::int64_t>(longer.words.size()) >= sentence.max_length)
        done = hypothesis(sentence, longer, stopped);
      else
        sentence.live.push_back(std::move(longer));
    }
  }

  /// Uniform in [0, 1): a number for each word of each sample of each stream.
  double random(const Sentence& sentence, const Live& live) const {
    const PhiloxKey key{options_.seed, inputs_[sentence.index].stream};
    return philox(key, (std::uint64_t{live.sample} << 32) + live.words.size())[0] * 0x1p-32;
  }

  void extend_beam(Sentence& sentence, std::span<const std::vector<NextWord>> next) {
    struct Candidate {
      double sum;
      std::size_t from;
      const NextWord* word;
    };
    std::vector<Candidate> candidates;
    for (std::size_t row = 0; row < next.size(); ++row)
      for (const NextWord& word : next[row]) candidates.push_back({sentence.live[row].sum + word.score, row, &word});
    std::ranges::stable_sort(candidates, std::greater<>(), &Candidate::sum);
    const auto beam = static_cast<std::size_t>(options_.beam);

    const std::vector<Live> before = std::move(sentence.live);
    sentence.live.clear();
    const bool last = static_cast<std::int64_t>(before.front().words.size()) + 1 >= sentence.max_length;
    for (std::size_t c = 0; c < std::min(candidates.size(), static_cast<std::size_t>(beam_candidates())); ++c) {
      const auto& [sum, from, word] = candidates[c];
      Live longer = before[from].followed_by(word->id, word->score, from);
      const bool stopped = stops(sentence, longer);
      if (last || stopped || ends(word->id)) {
        // One that ends counts only if it would have been kept had it gone on.
        if (c < beam) sentence.done.push_back(hypothesis(sentence, longer, stopped));
      } else if (sentence.live.size() < beam) {
        sentence.live.push_back(std::move(longer));
      }
    }
    std::ranges::stable_sort(sentence.done, std::greater<>(), &Hypothesis::score);
    if (sentence.done.size() > beam) sentence.done.resize(beam);
    if (sentence.live.empty() && sentence.done.empty())  // the rules leave nothing to be said
      for (const Live& live : before) sentence.done.push_back(hypothesis(sentence, live));
    if (!sentence.live.empty() && settled(sentence)) sentence.live.clear();
  }

  /// Whether no live hypothesis is thought to become better than what is done.
  bool settled(const Sentence& sentence) const {
    if (sentence.done.size() < static_cast<std::size_t>(options_.beam)) return false;
    if (options_.early_stopping == EarlyStopping::yes) return true;
    const bool longest = options_.early_stopping == EarlyStopping::never && options_.length_penalty > 0;
    const std::int64_t length = (longest ? sentence.max_length : sentence.length()) - sentence.prompt;
    return normalised(sentence.live.front().sum, length) <= sentence.done.back().score;
  }

  void close(Sentence& sentence) {
    if (sentence.done.size() > static_cast<std::size_t>(options_.nbest))
      sentence.done.resize(static_cast<std::size_t>(options_.nbest));
    results_[sentence.index] = std::move(sentence.done);
  }

  Stepper& stepper_;
  std::span<const SearchInput> inputs_;
  const SearchOptions& options_;
  const SearchWatch& watch_;
  std::vector<Sentence> open_;
  std::vector<std::vector<Hypothesis>> results_;
  bool checked_ = false;  // that the options name words of the model's vocabulary
};

void check(const SearchOptions& options) {
  if (options.beam < 1 || options.nbest < 1)
    fail<InputError>("search", "beam and nbest are at least 1: got beam ", options.beam, " and nbest ", options.nbest);
  if (!options.sample && options.nbest > options.beam)
    fail<InputError>("search", "a beam gives out at most as many hypotheses as it has: got beam ", options.beam,
                     " and nbest ", options.nbest);
  if (options.sample && options.beam > 1)
    fail<InputError>("search", "samples are drawn one by one: got beam ", options.beam, ", expected 1");
  if (!std::isfinite(options.length_penalty))
    fail<InputError>("search", "the length penalty is a number: got ", options.length_penalty);
  constexpr std::int64_t kMost = 1 << 30;
  for (const auto& [name, count] : {std::pair("max_new_tokens", options.max_new_tokens),
                                    {"max_length", options.max_length},
                                    {"min_new_tokens", options.rules.min_new_tokens},
                                    {"min_length", options.rules.min_length},
                                    {"no_repeat_ngram", options.rules.no_repeat_ngram}})
    if (count < 0 || count > kMost) fail<InputError>("search", name, ": got ", count, ", expected 0 to ", kMost);
  if (!(options.rules.repetition_penalty > 0))
    fail<InputError>("search", "the repetition penalty must be above 0: got ", options.rules.repetition_penalty);
  if (options.sample) check(options.sampling);
}

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
