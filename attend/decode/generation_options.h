// The options of text generation: beam search, sampling, lengths, penalties. Each option is declared once, in
// visit_options() below. The program's flags, the fields of requests, the keys of generation_config.json and the
// description of the HTTP API are all made from that declaration.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attend/decode/search.h"

namespace attend {

class Tokenizer;

/// What a caller asks for. An option that is not given comes from the model's generation_config.json, and where that
/// does not have it, from SearchOptions. visit_options() explains each option.
struct GenerationOptions {
  std::optional<bool> greedy = {};
  std::optional<bool> sample = {};  ///< temperature (above 0), top_k, top_p and min_p imply it
  std::optional<std::int64_t> beam = {};
  std::optional<std::int64_t> nbest = {};  ///< otherwise 1, whatever the folder says
  std::optional<double> temperature = {};
  std::optional<std::int64_t> top_k = {};
  std::optional<double> top_p = {};
  std::optional<double> min_p = {};
  std::optional<std::uint64_t> seed = {};  ///< otherwise a new random one
  std::optional<double> length_penalty = {};
  std::optional<EarlyStopping> early_stopping = {};
  std::optional<std::int64_t> max_new_tokens = {};
  std::optional<std::int64_t> min_new_tokens = {};
  std::optional<std::int64_t> no_repeat_ngram = {};
  std::optional<double> repetition_penalty = {};
  std::optional<double> presence_penalty = {};
  std::optional<double> frequency_penalty = {};
  std::optional<std::vector<LogitBias>> biases = {};
  std::optional<std::vector<std::string>> bad_words = {};
  std::optional<std::string> prefix = {};
  std::optional<std::vector<std::string>> stop = {};
  std::optional<bool> ignore_eos = {};
  std::optional<std::string> grammar = {};      ///< GBNF (text/grammar/grammar.h)
  std::optional<std::string> json_schema = {};  ///< JSON (text/grammar/json_schema.h)

  /// Whether these options ask for sampling.
  bool samples() const { return temperature != 0 && sample.value_or(temperature || top_k || top_p || min_p); }
};

/// Defaults where neither the caller nor the model's folder gives a value.
constexpr std::int64_t kDefaultNewTokens = 128;  ///< of language models

/// The options of a search: the caller's override those of the model's folder. Texts become tokens of `tokenizer`.
/// `prefix` and `stop` belong to single texts, grammars to the model: they are left to the caller.
SearchOptions resolve(const GenerationOptions& options, const SearchOptions& folder, const Tokenizer& tokenizer);

/// The values that an option may have: from `least` to `most`, or above `least`. For a list, its number of elements.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false;  ///< `least` itself is not allowed

  bool contains(double value) const {
    return std::isfinite(value) && (above ? value > least : value >= least) && value <= most;
  }
  std::string text() const;  ///< "1 to 64", "at least 0", "above 0" or "a number"
};

/// The models that have an option.
enum class OptionModels : std::uint8_t { all, language_models, encoder_decoders };

/// The headings under which the help lists the options.
enum class OptionGroup : std::uint8_t { search, sampling, text };

/// The name of an option in an API that is not ours.
struct OptionAlias {
  const char* name = nullptr;
  std::int64_t offset = 0;          ///< added to our value: LibreTranslate's "alternatives" are nbest - 1
  std::optional<double> most = {};  ///< the largest value of the field, where it is not ours
};

template <typename T>
struct Option {
  std::optional<T> GenerationOptions::*field;
  const char* name;     ///< in requests: "top_k". The flag is the same with dashes: "--top-k"
  const char* meaning;  ///< one sentence, without a full stop
  OptionGroup group = OptionGroup::search;
  OptionModels models = OptionModels::all;
  const char* value = "";             ///< what the help writes for the value: "N"
  Range range = {};                   ///< of the library and of flags
  std::optional<Range> request = {};  ///< of requests, where the server allows less, or 0 has a meaning of its own
  const char* config_key = nullptr;   ///< in generation_config.json
  T& (*setting)(SearchOptions&) = nullptr;  ///< the value that a search uses; null where resolve() translates it
  OptionAlias openai = {}, libre_translate = {};
  const char* flags = nullptr;  ///< all names of the flag, where it has several
  bool is_flag = true;          ///< false: only requests have it
  bool is_field = true;         ///< false: requests have it in another form
};

/// The names of EarlyStopping, for flags and requests.
inline const std::vector<std::pair<std::string, EarlyStopping>> kEarlyStoppingNames{
    {"yes", EarlyStopping::yes}, {"no", EarlyStopping::no}, {"never", EarlyStopping::never}};

/// Calls visit(Option<T>) for every option.
template <typename Visit>
void visit_options(Visit&& visit) {
  using G = GenerationOptions;
  using S = SearchOptions;
  using Integer = std::int64_t;
  constexpr Range kCount{0, 1 << 30}, kAtLeastOne{1, 1 << 30}, kShare{0, 1};
  constexpr double kMostTokens = 1 << 20;

  visit(Option<Integer>{.field = &G::beam,
                        .name = "beam",
                        .meaning = "Number of hypotheses that beam search keeps; 1 is greedy search",
                        .value = "N",
                        .range = kAtLeastOne,
                        .request = Range{1, 64},
                        .config_key = "num_beams",
                        .setting = [](S& s) -> Integer& { return s.beam; }});
  visit(Option<bool>{.field = &G::greedy,
                     .name = "greedy",
                     .meaning = "Take the most likely token at each step, as with a beam of 1"});
  visit(Option<Integer>{.field = &G::nbest,
                        .name = "nbest",
                        .meaning = "Number of texts to return for each input: samples, or the best of the beam",
                        .value = "N",
                        .range = kAtLeastOne,
                        .request = Range{1, 128},
                        .config_key = "num_return_sequences",
                        .setting = [](S& s) -> Integer& { return s.nbest; },
                        .openai = {.name = "n"},
                        .libre_translate = {.name = "alternatives", .offset = -1, .most = 16},
                        .flags = "-n,--nbest,--samples"});
  visit(Option<double>{
      .field = &G::length_penalty,
      .name = "length_penalty",
      .meaning = "Divide the score of a hypothesis by its length to this power; 0 prefers short hypotheses",
      .value = "X",
      .request = Range{-10, 10},
      .config_key = "length_penalty",
      .setting = [](S& s) -> double& { return s.length_penalty; }});
  visit(Option<EarlyStopping>{
      .field = &G::early_stopping,
      .name = "early_stopping",
      .meaning = "When beam search stops. yes: as soon as `beam` hypotheses are finished; no: when no unfinished one "
                 "has a better score at its present length; never: when none can get one at any length",
      .value = "HOW",
      .config_key = "early_stopping",
      .setting = [](S& s) -> EarlyStopping& { return s.early_stopping; }});
  visit(Option<Integer>{.field = &G::max_new_tokens,
                        .name = "max_new_tokens",
                        .meaning = "Maximum number of tokens to generate",
                        .value = "N",
                        .range = kAtLeastOne,
                        .request = Range{1, kMostTokens},
                        .config_key = "max_new_tokens",
                        .setting = [](S& s) -> Integer& { return s.max_new_tokens; },
                        .openai = {.name = "max_tokens"}});
  visit(Option<Integer>{.field = &G::min_new_tokens,
                        .name = "min_new_tokens",
                        .meaning = "Minimum number of tokens to generate",
                        .value = "N",
                        .range = kCount,
                        .request = Range{0, kMostTokens},
                        .config_key = "min_new_tokens",
                        .setting = [](S& s) -> Integer& { return s.rules.min_new_tokens; },
                        .openai = {.name = "min_tokens"}});
  visit(Option<Integer>{.field = &G::no_repeat_ngram,
                        .name = "no_repeat_ngram",
                        .meaning = "Never generate the same N tokens in a row twice; 0 allows it",
                        .value = "N",
                        .range = kCount,
                        .request = Range{0, 1024},
                        .config_key = "no_repeat_ngram_size",
                        .setting = [](S& s) -> Integer& { return s.rules.no_repeat_ngram; }});
  visit(Option<double>{.field = &G::repetition_penalty,
                       .name = "repetition_penalty",
                       .meaning = "Make tokens of the text so far less likely (above 1) or more likely (below 1)",
                       .value = "X",
                       .range = {.least = 0, .above = true},
                       .request = Range{0.01, 100},
                       .config_key = "repetition_penalty",
                       .setting = [](S& s) -> double& { return s.rules.repetition_penalty; }});
  visit(Option<double>{.field = &G::presence_penalty,
                       .name = "presence_penalty",
                       .meaning = "Subtract this from the logits of tokens that were generated before",
                       .value = "X",
                       .request = Range{-2, 2},
                       .setting = [](S& s) -> double& { return s.rules.presence_penalty; }});
  visit(Option<double>{.field = &G::frequency_penalty,
                       .name = "frequency_penalty",
                       .meaning = "Subtract this from the logit of a token for each time that it was generated before",
                       .value = "X",
                       .request = Range{-2, 2},
                       .setting = [](S& s) -> double& { return s.rules.frequency_penalty; }});
  visit(Option<std::vector<LogitBias>>{
      .field = &G::biases,
      .name = "logit_bias",
      .meaning = "Numbers from -100 to 100 to add to the logits of tokens, by token id; -100 bans a token",
      .models = OptionModels::language_models,
      .range = {0, 1024},
      .setting = [](S& s) -> std::vector<LogitBias>& { return s.rules.biases; },
      .is_flag = false});

  visit(Option<bool>{.field = &G::sample,
                     .name = "sample",
                     .meaning = "Choose each token at random, by its probability",
                     .group = OptionGroup::sampling,
                     .config_key = "do_sample",
                     .setting = [](S& s) -> bool& { return s.sample; }});
  visit(Option<double>{.field = &G::temperature,
                       .name = "temperature",
                       .meaning = "Divide the logits by this before sampling; below 1 favours likely tokens, 0 is "
                                  "greedy search",
                       .group = OptionGroup::sampling,
                       .value = "X",
                       .range = {.least = 0},
                       .request = Range{0, 100},
                       .config_key = "temperature",
                       .setting = [](S& s) -> double& { return s.sampling.temperature; }});
  visit(Option<Integer>{.field = &G::top_k,
                        .name = "top_k",
                        .meaning = "Sample from the N most likely tokens; 0 disables the limit",
                        .group = OptionGroup::sampling,
                        .value = "N",
                        .range = kCount,
                        .request = Range{0, kMostTokens},
                        .config_key = "top_k",
                        .setting = [](S& s) -> Integer& { return s.sampling.top_k; }});
  visit(Option<double>{.field = &G::top_p,
                       .name = "top_p",
                       .meaning = "Sample from the most likely tokens whose probabilities add up to P",
                       .group = OptionGroup::sampling,
                       .value = "P",
                       .range = kShare,
                       .config_key = "top_p",
                       .setting = [](S& s) -> double& { return s.sampling.top_p; }});
  visit(Option<double>{.field = &G::min_p,
                       .name = "min_p",
                       .meaning = "Sample from tokens with at least P times the probability of the most likely one",
                       .group = OptionGroup::sampling,
                       .value = "P",
                       .range = kShare,
                       .config_key = "min_p",
                       .setting = [](S& s) -> double& { return s.sampling.min_p; }});
  visit(Option<std::uint64_t>{.field = &G::seed,
                              .name = "seed",
                              .meaning = "Random seed; the same seed and input give the same text",
                              .group = OptionGroup::sampling,
                              .value = "N",
                              .request = Range{std::numeric_limits<std::int32_t>::min(), std::int64_t{1} << 53},
                              .setting = [](S& s) -> std::uint64_t& { return s.seed; }});

  visit(Option<std::vector<std::string>>{.field = &G::bad_words,
                                         .name = "bad_words",
                                         .meaning = "Texts that are never generated",
                                         .group = OptionGroup::text,
                                         .value = "TEXT|FILE",
                                         .request = Range{0, 1024}});
  visit(Option<std::string>{.field = &G::prefix,
                            .name = "prefix",
                            .meaning = "Text that every output begins with",
                            .group = OptionGroup::text,
                            .models = OptionModels::encoder_decoders,
                            .value = "TEXT"});
  visit(Option<std::vector<std::string>>{.field = &G::stop,
                                         .name = "stop",
                                         .meaning = "Texts before which the output ends",
                                         .group = OptionGroup::text,
                                         .models = OptionModels::language_models,
                                         .value = "TEXT",
                                         .request = Range{0, 16}});
  visit(Option<bool>{.field = &G::ignore_eos,
                     .name = "ignore_eos",
                     .meaning = "Go on past the end of the text, until the maximum number of tokens",
                     .group = OptionGroup::text});
  visit(Option<std::string>{.field = &G::grammar,
                            .name = "grammar",
                            .meaning = "Grammar in GBNF, the notation of llama.cpp, to which every output conforms",
                            .group = OptionGroup::text,
                            .models = OptionModels::language_models,
                            .value = "FILE"});
  visit(Option<std::string>{.field = &G::json_schema,
                            .name = "json_schema",
                            .meaning = "JSON Schema: every output is JSON that conforms to it",
                            .group = OptionGroup::text,
                            .models = OptionModels::language_models,
                            .value = "FILE",
                            .is_field = false});
}

/// Whether models of this kind have an option.
template <typename T>
bool applies(const Option<T>& option, OptionModels models) {
  return option.models == OptionModels::all || models == OptionModels::all || option.models == models;
}

/// The flag of an option, from its name: "--top-k".
std::string flag_of(const std::string& name);
/// The same, or all of its names: "-n,--nbest,--samples".
template <typename T>
std::string flag_of(const Option<T>& option) {
  return option.flags ? option.flags : flag_of(option.name);
}

/// The default of an option as text, "50"; nothing where there is no single value: an option that is off, or a limit
/// that depends on the input.
std::optional<std::string> default_text(const Option<std::int64_t>& option, const SearchOptions& defaults);
std::optional<std::string> default_text(const Option<std::uint64_t>& option, const SearchOptions& defaults);
std::optional<std::string> default_text(const Option<double>& option, const SearchOptions& defaults);
std::optional<std::string> default_text(const Option<EarlyStopping>& option, const SearchOptions& defaults);
template <typename T>
std::optional<std::string> default_text(const Option<T>&, const SearchOptions&) {
  return {};
}

/// What applies where neither the caller nor the folder gives a value.
SearchOptions default_search(OptionModels models);

}  // namespace attend
