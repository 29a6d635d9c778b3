#include "attend/cli/shared/generation.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/text/grammar/grammar.h"
#include "attend/text/grammar/json_schema.h"

namespace attend::cli {

namespace {

const char* heading(OptionGroup group, OptionModels models) {
  switch (group) {
    case OptionGroup::search:
      return "Search (the model's generation_config.json may have other defaults)";
    case OptionGroup::sampling:
      return models == OptionModels::encoder_decoders ? "Sampling" : "Sampling (any of these but --seed turns it on)";
    case OptionGroup::text:
      return "Text";
  }
  return "";
}

/// Makes the flag of an option.
class FlagMaker {
 public:
  FlagMaker(Verb& verb, GenerationOptions& options, OptionModels models)
      : verb_(verb), options_(options), models_(models), defaults_(default_search(models)) {}

  template <typename T>
  Flag* operator()(const Option<T>& option) const {
    Flag* flag = add(option, flag_of(option), option.meaning);
    if (const auto value = default_text(option, defaults_)) flag->default_text(*value);
    if (*option.value) flag->type_name(option.value);
    return flag->group(heading(option.group, models_));
  }

 private:
  template <typename T>
  Flag* add(const Option<T>& option, const std::string& name, const std::string& help) const {
    return verb_.add_option(name, options_.*option.field, help)
        ->check(number_that("must be " + option.range.text(),
                            [range = option.range](double x) { return range.contains(x); }));
  }
  Flag* add(const Option<bool>& option, const std::string& name, const std::string& help) const {
    return verb_.add_flag_callback(
        name, [&value = options_.*option.field] { value = true; }, help);
  }
  Flag* add(const Option<std::string>& option, const std::string& name, const std::string& help) const {
    return verb_.add_option(name, options_.*option.field, help);
  }
  Flag* add(const Option<EarlyStopping>& option, const std::string& name, const std::string& help) const {
    std::vector<std::string> names;
    names.reserve(std::size(kEarlyStoppingNames));
    for (const auto& [known, meaning] : kEarlyStoppingNames) names.push_back(known);
    const auto set = [&value = options_.*option.field](const std::string& given) {
      for (const auto& [known, meaning] : kEarlyStoppingNames)
        if (known == given) value = meaning;
    };
    return verb_.add_option_function<std::string>(name, set, help)->check(is_one_of(names));
  }
  Flag* add(const Option<std::vector<std::string>>& option, const std::string& name, const std::string& help) const {
    const auto set = [&value = options_.*option.field](const std::vector<std::string>& given) { value = given; };
    // In a verb with arguments, the flag takes one text and can be repeated; otherwise it would swallow the arguments.
    Flag* flag = verb_.add_option_function<std::vector<std::string>>(name, set, help);
    const bool arguments = std::ranges::any_of(verb_.flags(), [](const Flag* other) { return other->is_argument(); });
    return arguments ? flag->one_at_a_time() : flag;
  }

  Verb& verb_;
  GenerationOptions& options_;
  OptionModels models_;
  SearchOptions defaults_;
};

/// Replaces each file name by the lines of the file.
std::vector<std::string> read_bad_words(const std::vector<std::string>& given) {
  std::vector<std::string> words;
  for (const std::string& one : given) {
    if (!std::filesystem::is_regular_file(one)) {
      words.push_back(one);
      continue;
    }
    LineReader reader({one});
    for (std::string line; reader.next(line);)
      if (!line.empty()) words.push_back(line);
  }
  return words;
}

/// Replaces the name of a file by its text, and checks that text.
template <typename Check>
void read_rules(std::optional<std::string>& file, Check&& check) {
  if (!file) return;
  LineReader reader({*file});
  std::string text;
  for (std::string line; reader.next(line);) (text += line) += '\n';
  try {
    check(text);
  } catch (const InputError& error) {
    throw InputError(*file + ": " + text_of(error));
  }
  file = std::move(text);
}

}  // namespace

void add_generation_flags(Verb& verb, GenerationOptions& options, OptionModels models,
                          const std::set<std::string>& left_out) {
  const FlagMaker make(verb, options, models);
  visit_options([&]<typename T>(const Option<T>& option) {
    if constexpr (!std::is_same_v<T, std::vector<LogitBias>>)
      if (option.is_flag && applies(option, models) && !left_out.contains(option.name)) make(option);
  });
  Flag *greedy = verb.get_option("--greedy"), *beam = verb.get_option("--beam");
  greedy->excludes(beam);
  for (const char* sampling : {"--sample", "--temperature", "--top-k", "--top-p", "--min-p"})
    greedy->excludes(verb.get_option(sampling)), beam->excludes(verb.get_option(sampling));
  if (models == OptionModels::language_models) {
    Flag* grammar = verb.get_option("--grammar");
    for (const char* other : {"--json-schema", "--ignore-eos"}) grammar->excludes(verb.get_option(other));
    verb.get_option("--json-schema")->excludes(verb.get_option("--ignore-eos"));
  }
  if (models != OptionModels::encoder_decoders) return;
  // Translators use beam search by default, so a sampling flag without --sample is probably a mistake.
  for (const char* flag : {"--temperature", "--top-k", "--top-p", "--min-p", "--seed"})
    verb.get_option(flag)->needs(verb.get_option("--sample"));
}

Flag* add_generation_flag(Verb& verb, GenerationOptions& options, const std::string& name) {
  const FlagMaker make(verb, options, OptionModels::all);
  Flag* flag = nullptr;
  visit_options([&]<typename T>(const Option<T>& option) {
    if constexpr (!std::is_same_v<T, std::vector<LogitBias>>)
      if (option.name == name) flag = make(option);
  });
  return flag;
}

void finish_generation_flags(GenerationOptions& options) {
  const std::int64_t nbest = options.nbest.value_or(1);
  if (options.beam && nbest > *options.beam) throw UsageError("--nbest, --samples", "cannot be more than --beam");
  if (options.greedy && nbest > 1) throw UsageError("--nbest, --samples", "--greedy gives one text only");
  if (options.temperature == 0 && nbest > 1)
    throw UsageError("--nbest, --samples", "--temperature 0 is greedy search, which gives one text only");
  if (!options.seed) options.seed = random_seed();  // one for all lines
  if (options.bad_words) options.bad_words = read_bad_words(*options.bad_words);
  read_rules(options.grammar, [](const std::string& text) { Grammar{text}; });
  read_rules(options.json_schema, [](const std::string& text) {
    for (const std::string& warning : json_schema_grammar(text).warnings) warn("--json-schema: " + warning);
  });
}

void add_long_context_flag(Verb& verb, LongContext& long_context) {
  add_choice(verb, "--long", long_context, {{"error", LongContext::refuse}, {"slide", LongContext::slide}},
             "What to do when a text becomes longer than the model's context. error: stop; slide: drop "
             "its beginning. One of")
      ->type_name("HOW")
      ->group(heading(OptionGroup::text, OptionModels::language_models));
}

LanguageModel open_language_model(const std::string& folder, const std::string& adapter) {
  LanguageModel model(open_model(folder, adapter));
  warn_of_weights(folder);
  std::string keys;
  for (const std::string& key : model.generation().ignored) keys += (keys.empty() ? "" : ", ") + key;
  if (!keys.empty()) warn(folder + ": these keys of its generation_config.json are not supported: " + keys);
  return model;
}

Likelihood likelihood_of(const std::string& text, const TextLikelihood& scored) {
  Likelihood likelihood{.logprob = scored.logprob, .tokens = 0, .bytes = std::ssize(text)};
  for (const double logprob : scored.logprobs) likelihood.tokens += !std::isnan(logprob);
  return likelihood;
}

const char* finish_name(Finish finish) {
  switch (finish) {
    case Finish::eos:
      return "eos";
    case Finish::length:
      return "length";
    case Finish::stop:
      return "stop";
  }
  return "";
}

}  // namespace attend::cli
