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
  if (options.sample && !(options.sampling.temperature > 0))
    fail<InputError>("search", "temperature: got ", options.sampling.temperature, ", expected above 0 to sample");
  if (options.sample && options.beam > 1)
    fail<InputError>("search", "sampling takes no beam: got beam ", options.beam, ", expected 1");
  constexpr Range kLength{0, 1 << 30};
  for (const auto& [name, length] :
       {std::pair("max_length", options.max_length), {"min_length", options.rules.min_length}})
    if (!kLength.contains(static_cast<double>(length)))
      fail<InputError>("search", name, ": got ", length, ", expected ", kLength.text());
}

void check_tokens(const SearchOptions& options, std::int64_t vocabulary) {
  const auto check = [&](const char* what, std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids)
      if (id < 0 || id >= vocabulary)
        fail<InputError>("search", what, ": there is no token ", id, ", expected 0 to ", vocabulary - 1);
  };
  const LogitsRules& rules = options.rules;
  check("the end tokens", options.ends);
  if (rules.forced_first) check("the forced first token", std::span(&*rules.forced_first, 1));
  check("the forced last token", rules.forced_last);
  check("the suppressed tokens", rules.suppressed);
  check("the suppressed first tokens", rules.suppressed_first);
  for (const std::vector<std::int32_t>& tokens : rules.bad_words) check("bad_words", tokens);
  for (const LogitBias& one : rules.biases) {
    check("the biased tokens", std::span(&one.id, 1));
    if (!std::isfinite(one.bias)) fail<InputError>("search", "a bias is a number: got ", one.bias);
  }
}

SequenceSearch::Live SequenceSearch::Live::followed_by(std::int32_t token, double log_probability,
                                                       std::size_t from) const {
  Live longer{tokens, sum + log_probability, from, sample, position};
  longer.tokens.push_back(token);
  return longer;
}

SequenceSearch::SequenceSearch(const SearchInput& input, const SearchOptions& options, const SearchCallbacks& callbacks)
    : options_(&options), callbacks_(&callbacks), prefix_(input.prefix), stream_(input.stream) {
  std::vector<std::int32_t> tokens = input.prompt;
  if (tokens.empty()) tokens.push_back(options.start);
  read_ = std::ssize(tokens), prompt_ = read_ + std::ssize(prefix_);
  const std::int64_t more = input.max_new_tokens > 0 ? input.max_new_tokens : options.max_new_tokens;
  max_length_ = more > 0 ? prompt_ + more : options.max_length;
  if (max_length_ <= prompt_)
    fail<InputError>("search", "start and prefix leave no room for a token: got ", prompt_,
                     " of them, expected less than the length allowed, ", max_length_);
  live_.push_back({std::move(tokens)});
}

std::int64_t SequenceSearch::candidates(std::int64_t vocabulary) const {
  if (is_beam()) return beam_candidates(*options_);
  std::int64_t count = 1;
  if (options_->sample) count = options_->sampling.top_k > 0 ? options_->sampling.top_k : vocabulary;
  return std::max(count, callbacks_->alternatives);
}

std::int64_t beam_candidates(const SearchOptions& options) {
  return std::max<std::int64_t>(2, 1 + std::ssize(options.ends)) * options.beam;
}

bool SequenceSearch::ends(std::int32_t token) const {
  return std::ranges::find(options_->ends, token) != options_->ends.end();
}

bool SequenceSearch::stops(const Live& live) const {
  return callbacks_->should_stop &&
         callbacks_->should_stop(std::span(live.tokens).subspan(static_cast<std::size_t>(prompt_)));
}

double SequenceSearch::normalised(double sum, std::int64_t length) const {
  return sum / std::pow(static_cast<double>(length), options_->length_penalty);
}

Hypothesis SequenceSearch::hypothesis(const Live& live, bool stopped) const {
  const std::int64_t tokens = std::ssize(live.tokens), length = tokens - prompt_;
  const bool forced = !options_->rules.forced_last.empty() && tokens == max_length_;
  return {{live.tokens.begin() + read_, live.tokens.end()},
          live.sum,
          normalised(live.sum, std::max<std::int64_t>(length, 1)),
          length > 0 && ends(live.tokens.back()) && !forced,
          stopped};
}

void SequenceSearch::extend(std::span<std::vector<NextToken>> next) {
  if (length() < prompt_)
    live_.front().tokens.push_back(prefix_[static_cast<std::size_t>(length() - read_)]);
  else if (is_beam())
    extend_beam(next);
  else
    extend_each(next);
}

/// Greedy search and sampling: each hypothesis is extended by itself.
void SequenceSearch::extend_each(std::span<std::vector<NextToken>> next) {
  std::vector<Live> before = std::exchange(live_, {});
  if (done_.empty()) {  // the first step: all samples come from one row
    done_.resize(static_cast<std::size_t>(options_->nbest));
    before.resize(done_.size(), before.front());
    for (std::size_t s = 0; s < before.size(); ++s) before[s].sample = s;
  }
  std::vector<std::vector<NextToken>> candidates(next.size());
  std::vector<std::vector<double>> probabilities(next.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t row = std::min(i, next.size() - 1);
    if (next[row].empty() && candidates[row].empty()) {  // the rules allow no token
      done_[before[i].sample] = hypothesis(before[i]);
      continue;
    }
    if (options_->sample && probabilities[row].empty()) {
      candidates[row] = callbacks_->alternatives > 0 ? next[row] : std::move(next[row]);
      probabilities[row] = sampling_probabilities(candidates[row], options_->sampling);
    }
    const NextToken token =
        options_->sample ? candidates[row][sample_index(probabilities[row], random(before[i]))] : next[row].front();
    Live longer = before[i].followed_by(token.id, token.log_probability, row);
    if (callbacks_->on_token) callbacks_->on_token(longer.sample, token, next[row]);
    const bool stopped = stops(longer);
    if (stopped || ends(token.id) || std::ssize(longer.tokens) >= max_length_)
      done_[longer.sample] = hypothesis(longer, stopped);
    else
      live_.push_back(std::move(longer));
  }
}

/// Uniform in [0, 1): a number for each token of each sample of each stream.
double SequenceSearch::random(const Live& live) const {
  const PhiloxKey key{options_->seed, stream_};
  return philox(key, (std::uint64_t{live.sample} << 32) + live.tokens.size())[0] * 0x1p-32;
}

void SequenceSearch::extend_beam(std::span<const std::vector<NextToken>> next) {
  struct Candidate {
    double sum;
    std::size_t from;
    const NextToken* token;
  };
  std::vector<Candidate> candidates;
  for (std::size_t row = 0; row < next.size(); ++row)
    for (const NextToken& token : next[row]) candidates.push_back({live_[row].sum + token.score, row, &token});
  std::ranges::stable_sort(candidates, std::greater<>(), &Candidate::sum);
  const auto beam = static_cast<std::size_t>(options_->beam);

  const std::vector<Live> before = std::exchange(live_, {});
  const bool last = std::ssize(before.front().tokens) + 1 >= max_length_;
  for (std::size_t c = 0; c < std::min(candidates.size(), static_cast<std::size_t>(beam_candidates(*options_))); ++c) {
    const auto& [sum, from, token] = candidates[c];
    Live longer = before[from].followed_by(token->id, token->score, from);
    const bool stopped = stops(longer);
    if (last || stopped || ends(token->id)) {
      // An end token counts only among the best `beam` candidates, as in `transformers`.
      if (c < beam) done_.push_back(hypothesis(longer, stopped));
    } else if (live_.size() < beam) {
      live_.push_back(std::move(longer));
    }
  }
  std::ranges::stable_sort(done_, std::greater<>(), &Hypothesis::score);
  if (done_.size() > beam) done_.resize(beam);
  if (live_.empty() && done_.empty())  // the rules allow no token
    for (const Live& live : before) done_.push_back(hypothesis(live));
  if (!live_.empty() && settled()) live_.clear();
}

/// Whether no unfinished hypothesis is expected to become better than the finished ones.
bool SequenceSearch::settled() const {
  if (done_.size() < static_cast<std::size_t>(options_->beam)) return false;
  if (options_->early_stopping == EarlyStopping::yes) return true;
  const bool longest = options_->early_stopping == EarlyStopping::never && options_->length_penalty > 0;
  const std::int64_t tokens = (longest ? max_length_ : length()) - prompt_;
  return normalised(live_.front().sum, tokens) <= done_.back().score;
}

std::vector<Hypothesis> SequenceSearch::take_results() {
  if (done_.size() > static_cast<std::size_t>(options_->nbest)) done_.resize(static_cast<std::size_t>(options_->nbest));
  return std::move(done_);
}

}  // namespace attend
