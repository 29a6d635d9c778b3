#include "attend/decode/generation_options.h"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

#include "attend/text/tokenizer.h"

namespace attend {
namespace {

/// The tokens of each text, as they are inside a sentence and at its beginning.
void add_bad_words(const Tokenizer& tokenizer, const std::vector<std::string>& texts, LogitsRules& rules) {
  std::set<std::vector<std::int32_t>> known(rules.bad_words.begin(), rules.bad_words.end());
  for (const std::string& text : texts)
    for (const std::string& variant : {text, std::string(" ").append(text)})
      if (std::vector<std::int32_t> ids = tokenizer.ids(variant); !ids.empty() && known.insert(ids).second)
        rules.bad_words.push_back(std::move(ids));
}

template <typename T>
std::optional<std::string> number_text(const Option<T>& option, SearchOptions defaults) {
  if (!option.setting) return {};
  const T value = option.setting(defaults);
  if (!option.range.contains(static_cast<double>(value))) return {};
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

std::string Range::text() const {
  constexpr double kNoLimit = std::numeric_limits<double>::infinity(), kAlmostNone = 1 << 30;
  std::ostringstream text;
  if (least == -kNoLimit)
    text << "a number";
  else if (above || most >= kAlmostNone)
    text << (above ? "above " : "at least ") << least;
  else
    text << least << " to " << std::setprecision(17) << most;
  return text.str();
}

SearchOptions resolve(const GenerationOptions& options, const SearchOptions& folder, const Tokenizer& tokenizer) {
  SearchOptions search = folder;
  visit_options([&](const auto& option) {
    if (const auto& given = options.*option.field; given && option.setting) option.setting(search) = *given;
  });
  if (!options.nbest) search.nbest = 1;
  if (options.min_new_tokens) search.rules.min_length = 0;
  if (options.samples()) {
    search.sample = true;
    if (!options.beam) search.beam = 1;
  } else if (options.beam) {
    search.sample = false;
  }
  if (options.greedy.value_or(false)) search.sample = false, search.beam = 1;
  if (search.sampling.temperature == 0) {  // the limit of a low temperature: always the most likely token
    if (search.sample || options.temperature) search.beam = options.beam.value_or(1);
    search.sample = false;
  }
  if (search.sample && !options.seed) search.seed = random_seed();
  if (options.bad_words) add_bad_words(tokenizer, *options.bad_words, search.rules);
  if (options.ignore_eos.value_or(false)) {
    search.rules.suppressed.insert(search.rules.suppressed.end(), search.ends.begin(), search.ends.end());
    search.rules.forced_last.clear();
    search.ends.clear();
  }
  return search;
}

std::string flag_of(const std::string& name) {
  std::string flag = "--" + name;
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::optional<std::string> default_text(const Option<std::int64_t>& option, const SearchOptions& defaults) {
  return number_text(option, defaults);
}
std::optional<std::string> default_text(const Option<std::uint64_t>&, const SearchOptions&) { return "random"; }
std::optional<std::string> default_text(const Option<double>& option, const SearchOptions& defaults) {
  return number_text(option, defaults);
}
std::optional<std::string> default_text(const Option<EarlyStopping>& option, const SearchOptions& defaults) {
  SearchOptions search = defaults;
  for (const auto& [name, value] : kEarlyStoppingNames)
    if (value == option.setting(search)) return name;
  return {};
}

SearchOptions default_search(OptionModels models) {
  SearchOptions search;
  if (models == OptionModels::language_models) search.max_new_tokens = kDefaultNewTokens;
  return search;
}

}  // namespace attend
