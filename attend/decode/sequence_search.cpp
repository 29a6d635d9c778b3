#include "attend/decode/sequence_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>
#include <utility>

#include "attend/core/error.h"
#include "attend/decode/generation_options.h"

namespace attend {

void check(const SearchOptions& options) {
  SearchOptions given = options, defaults;
  visit_options([&]<typename T>(const Option<T>& option) {
    if constexpr (std::is_arithmetic_v<T>) {
      if (!option.setting || (option.group == OptionGroup::sampling && !options.sample)) return;
      const T value = option.setting(given);
      if (value != option.setting(defaults) && !option.range.contains(static_cast<double>(value)))
        fail<InputError>("search", option.name, ": got ", value, ", expected ", option.range.text());
    }
  });
  if (!options.sample && options.nbest > options.beam)
    fail<InputError>("search", "beam search returns at most `beam` hypotheses: got beam ", options.beam, " and nbest ",
                     options.nbest);
  if (options.sample && options.beam > 1)
    fail<InputError>("search", "sampling takes no beam: got beam ", options.beam, ", expected 1");
  constexpr Range kLength{0, 1 << 30};
  for (const auto& [name, length] :
       {std::pair("max_length", options.max_length), {"min_length", options.rules.min_length}})
    if (!kLength.contains(static_cast<double>(length)))
      fail<InputError>("search", name, ": got ", length, ", expected ", kLength.text());
}

void check_words(const SearchOptions& options, std::int64_t vocabulary) {
  const auto check = [&](const char* what, std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids)
      if (id < 0 || id >= vocabulary)
        fail<InputError>("search", what, ": there is no word ", id, ", expected 0 to ", vocabulary - 1);
  };
  const LogitsRules& rules = options.rules;
  check("the end of a sentence", options.ends);
  if (rules.forced_first) check("the forced first word", std::span(&*rules.forced_first, 1));
  check("the forced last word", rules.forced_last);
  check("the suppressed words", rules.suppressed);
  check("the suppressed first words", rules.suppressed_first);
  for (const std::vector<std::int32_t>& words : rules.bad_words) check("the bad words", words);
  for (const LogitBias& one : rules.biases) {
    check("the biased words", std::span(&one.id, 1));
    if (!std::isfinite(one.bias)) fail<InputError>("search", "a bias is a number: got ", one.bias);
  }
}

SequenceSearch::Live SequenceSearch::Live::followed_by(std::int32_t word, double log_probability,
                                                       std::size_t from) const {
  Live longer{words, sum + log_probability, from, sample};
  longer.words.push_back(word);
  return longer;
}

SequenceSearch::SequenceSearch(const SearchInput& input, const SearchOptions& options, const SearchWatch& watch)
    : options_(&options), watch_(&watch), prefix_(input.prefix), stream_(input.stream) {
  std::vector<std::int32_t> words = input.prompt;
  if (words.empty()) words.push_back(options.start);
  read_ = std::ssize(words), prompt_ = read_ + std::ssize(prefix_);
  const std::int64_t more = input.max_new_tokens > 0 ? input.max_new_tokens : options.max_new_tokens;
  max_length_ = more > 0 ? prompt_ + more : options.max_length;
  if (max_length_ <= prompt_)
    fail<InputError>("search", "start and prefix leave no room for a word: got ", prompt_,
                     " of them, expected less than the length allowed, ", max_length_);
  live_.push_back({std::move(words)});
}

std::int64_t SequenceSearch::candidates(std::int64_t vocabulary) const {
  if (is_beam()) return beam_candidates();
  std::int64_t count = 1;
  if (options_->sample) count = options_->sampling.top_k > 0 ? options_->sampling.top_k : vocabulary;
  return std::max(count, watch_->alternatives);
}

/// So many that a beam of them goes on even if every hypothesis could end in all possible ways.
std::int64_t SequenceSearch::beam_candidates() const {
  return std::max<std::int64_t>(2, 1 + std::ssize(options_->ends)) * options_->beam;
}

bool SequenceSearch::ends(std::int32_t word) const {
  return std::ranges::find(options_->ends, word) != options_->ends.end();
}

bool SequenceSearch::stops(const Live& live) const {
  return watch_->stops && watch_->stops(std::span(live.words).subspan(static_cast<std::size_t>(prompt_)));
}

double SequenceSearch::normalised(double sum, std::int64_t length) const {
  return sum / std::pow(static_cast<double>(length), options_->length_penalty);
}

Hypothesis SequenceSearch::hypothesis(const Live& live, bool stopped) const {
  const std::int64_t words = std::ssize(live.words), length = words - prompt_;
  const bool forced = !options_->rules.forced_last.empty() && words == max_length_;
  return {{live.words.begin() + read_, live.words.end()},
          live.sum,
          normalised(live.sum, std::max<std::int64_t>(length, 1)),
          length > 0 && ends(live.words.back()) && !forced,
          stopped};
}

void SequenceSearch::extend(std::span<std::vector<NextWord>> next) {
  if (length() < prompt_)
    live_.front().words.push_back(prefix_[static_cast<std::size_t>(length() - read_)]);
  else if (is_beam())
    extend_beam(next);
  else
    extend_each(next);
}

/// Greedy search and sampling: every hypothesis goes its own way.
void SequenceSearch::extend_each(std::span<std::vector<NextWord>> next) {
  std::vector<Live> before = std::exchange(live_, {});
  if (done_.empty()) {  // the first step: all samples come from one row
    done_.resize(static_cast<std::size_t>(options_->nbest));
    before.resize(done_.size(), before.front());
    for (std::size_t s = 0; s < before.size(); ++s) before[s].sample = s;
  }
  std::vector<std::vector<NextWord>> drawable(next.size());
  std::vector<std::vector<double>> odds(next.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t row = std::min(i, next.size() - 1);
    if (next[row].empty() && drawable[row].empty()) {  // the rules leave nothing to be said
      done_[before[i].sample] = hypothesis(before[i]);
      continue;
    }
    if (options_->sample && odds[row].empty()) {
      drawable[row] = watch_->alternatives > 0 ? next[row] : std::move(next[row]);
      odds[row] = chances(drawable[row], options_->sampling);
    }
    const NextWord word = options_->sample ? drawable[row][draw(odds[row], random(before[i]))] : next[row].front();
    Live longer = before[i].followed_by(word.id, word.log_probability, row);
    if (watch_->said) watch_->said(longer.sample, word, next[row]);
    const bool stopped = stops(longer);
    if (stopped || ends(word.id) || std::ssize(longer.words) >= max_length_)
      done_[longer.sample] = hypothesis(longer, stopped);
    else
      live_.push_back(std::move(longer));
  }
}

/// Uniform in [0, 1): a number for each word of each sample of each stream.
double SequenceSearch::random(const Live& live) const {
  const PhiloxKey key{options_->seed, stream_};
  return philox(key, (std::uint64_t{live.sample} << 32) + live.words.size())[0] * 0x1p-32;
}

void SequenceSearch::extend_beam(std::span<const std::vector<NextWord>> next) {
  struct Candidate {
    double sum;
    std::size_t from;
    const NextWord* word;
  };
  std::vector<Candidate> candidates;
  for (std::size_t row = 0; row < next.size(); ++row)
    for (const NextWord& word : next[row]) candidates.push_back({live_[row].sum + word.score, row, &word});
  std::ranges::stable_sort(candidates, std::greater<>(), &Candidate::sum);
  const auto beam = static_cast<std::size_t>(options_->beam);

  const std::vector<Live> before = std::exchange(live_, {});
  const bool last = std::ssize(before.front().words) + 1 >= max_length_;
  for (std::size_t c = 0; c < std::min(candidates.size(), static_cast<std::size_t>(beam_candidates())); ++c) {
    const auto& [sum, from, word] = candidates[c];
    Live longer = before[from].followed_by(word->id, word->score, from);
    const bool stopped = stops(longer);
    if (last || stopped || ends(word->id)) {
      // One that ends counts only if it would have been kept had it gone on.
      if (c < beam) done_.push_back(hypothesis(longer, stopped));
    } else if (live_.size() < beam) {
      live_.push_back(std::move(longer));
    }
  }
  std::ranges::stable_sort(done_, std::greater<>(), &Hypothesis::score);
  if (done_.size() > beam) done_.resize(beam);
  if (live_.empty() && done_.empty())  // the rules leave nothing to be said
    for (const Live& live : before) done_.push_back(hypothesis(live));
  if (!live_.empty() && settled()) live_.clear();
}

/// Whether no live hypothesis is thought to become better than what is done.
bool SequenceSearch::settled() const {
  if (done_.size() < static_cast<std::size_t>(options_->beam)) return false;
  if (options_->early_stopping == EarlyStopping::yes) return true;
  const bool longest = options_->early_stopping == EarlyStopping::never && options_->length_penalty > 0;
  const std::int64_t words = (longest ? max_length_ : length()) - prompt_;
  return normalised(live_.front().sum, words) <= done_.back().score;
}

std::vector<Hypothesis> SequenceSearch::take_results() {
  if (done_.size() > static_cast<std::size_t>(options_->nbest)) done_.resize(static_cast<std::size_t>(options_->nbest));
  return std::move(done_);
}

}  // namespace attend
