#include "attend/decode/generation_config.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "attend/core/error.h"
#include "attend/decode/generation_options.h"

namespace attend {
namespace {

/// Keys that are not supported, and the value with which they have no effect.
constexpr std::pair<const char*, const char*> kUnsupported[] = {{"constraints", ""},
                                                                {"diversity_penalty", "0.0"},
                                                                {"encoder_no_repeat_ngram_size", "0"},
                                                                {"encoder_repetition_penalty", "1.0"},
                                                                {"epsilon_cutoff", "0.0"},
                                                                {"eta_cutoff", "0.0"},
                                                                {"exponential_decay_length_penalty", ""},
                                                                {"force_words_ids", ""},
                                                                {"guidance_scale", "1.0"},
                                                                {"max_time", ""},
                                                                {"num_beam_groups", "1"},
                                                                {"penalty_alpha", ""},
                                                                {"sequence_bias", ""},
                                                                {"stop_strings", ""},
                                                                {"top_h", ""},
                                                                {"typical_p", "1.0"},
                                                                {"watermarking_config", ""}};

/// Some folders say "no limit" by a large number.
constexpr std::int64_t kMostLength = std::numeric_limits<std::int64_t>::max();

std::int32_t id(const Config& config, const char* key, std::int64_t integer) {
  if (integer < 0 || integer > std::numeric_limits<std::int32_t>::max())
    fail<InputError>("config", config.name(), ": \"", key, "\" has ", integer, ", which is not a token id");
  return static_cast<std::int32_t>(integer);
}
std::vector<std::int32_t> ids(const Config& config, const char* key, const std::vector<std::int64_t>& integers) {
  std::vector<std::int32_t> all;
  all.reserve(integers.size());
  for (const std::int64_t integer : integers) all.push_back(id(config, key, integer));
  return all;
}
std::vector<std::int64_t> integers(const std::vector<std::int32_t>& ids) { return {ids.begin(), ids.end()}; }

/// Reads the value of a key, if the file has it.
void take(const Config& config, const char* key, std::int64_t& value) { value = config.integer(key, value); }
void take(const Config& config, const char* key, double& value) { value = config.number(key, value); }
void take(const Config& config, const char* key, bool& value) { value = config.flag(key, value); }
void take(const Config& config, const char* key, std::vector<std::int32_t>& value) {
  if (config.has(key)) value = ids(config, key, config.integers(key));
}
void take(const Config& config, const char* key, std::optional<std::int32_t>& value) {
  if (config.has(key)) value = id(config, key, config.integer(key));
}

void take(const Config& config, const char* key, EarlyStopping& value) {
  if (config.json(key) == "\"never\"")
    value = EarlyStopping::never;
  else if (config.has(key))
    value = config.flag(key) ? EarlyStopping::yes : EarlyStopping::no;
}

void put(Config& config, const char* key, EarlyStopping value) {
  if (value == EarlyStopping::never)
    config.set(key, "never");
  else
    config.set(key, value == EarlyStopping::yes);
}
template <typename T>
void put(Config& config, const char* key, const T& value) {
  config.set(key, value);
}

/// Calls visit(option, key) for every option that stands in generation_config.json.
template <typename Visit>
void visit_config_options(Visit&& visit) {
  visit_options([&]<typename T>(const Option<T>& option) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                  std::is_same_v<T, EarlyStopping>)
      if (option.config_key) visit(option, option.config_key);
  });
}

bool is_neutral(const Config& config, const char* key, const std::string& neutral) {
  if (!config.has(key) || config.json(key) == neutral) return true;
  return !neutral.empty() && config.number(key) == std::stod(neutral);
}

}  // namespace

namespace {

/// The folder's generation_config.json, if it has one.
std::optional<Config> own_file(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "generation_config.json";
  std::error_code unknown;  // a link that leads nowhere is an error, not a missing file
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(file, unknown));
  return there ? std::optional(Config(file)) : std::nullopt;
}

}  // namespace

GenerationConfig GenerationConfig::read(const std::filesystem::path& folder, const SearchOptions& search) {
  const std::optional<Config> own = own_file(folder);
  return read(own ? *own : Config(folder / "config.json"), search);
}

GenerationConfig GenerationConfig::read(const ModelFolder& folder, const SearchOptions& search) {
  return read(own_file(folder.path()).value_or(folder.config()), search);
}

GenerationConfig GenerationConfig::read(const Config& config, const SearchOptions& search) {
  GenerationConfig read{search};
  SearchOptions& s = read.search;
  visit_config_options([&]<typename T>(const Option<T>& option, const char* key) {
    take(config, key, option.setting(s));
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>) {
      const auto value = static_cast<double>(option.setting(s));
      if (!config.has(key) || option.range.contains(value)) return;
      const std::string most =
          "at most " + std::to_string(static_cast<std::int64_t>(std::min(option.range.most, 0x1p53)));
      fail<InputError>("config", config.name(), ": \"", key, "\" is ", config.json(key), ", expected ",
                       value > option.range.most ? most : option.range.text());
    }
  });
  s.max_length = config.integer_in("max_length", 0, kMostLength, s.max_length);

  std::optional<std::int32_t> start;
  take(config, "bos_token_id", start);
  take(config, "decoder_start_token_id", start);
  s.start = start.value_or(s.start);
  take(config, "eos_token_id", s.ends);
  take(config, "pad_token_id", read.padding);

  s.rules.min_length = config.integer_in("min_length", 0, kMostLength, s.rules.min_length);
  if (config.has("min_new_tokens")) s.rules.min_length = 0;  // min_new_tokens replaces it
  take(config, "forced_bos_token_id", s.rules.forced_first);
  if (config.flag("force_bos_token_to_be_generated", false) && !config.has("forced_bos_token_id"))
    take(config, "bos_token_id", s.rules.forced_first);  // in config.json of old BART folders
  take(config, "forced_eos_token_id", s.rules.forced_last);
  take(config, "suppress_tokens", s.rules.suppressed);
  take(config, "begin_suppress_tokens", s.rules.suppressed_first);
  take(config, "renormalize_logits", s.rules.renormalise);
  if (config.has("bad_words_ids")) {
    s.rules.bad_words.clear();
    for (const std::vector<std::int64_t>& words : config.integer_lists("bad_words_ids"))
      s.rules.bad_words.push_back(ids(config, "bad_words_ids", words));
  }

  for (const auto& [key, neutral] : kUnsupported)
    if (!is_neutral(config, key, neutral)) read.ignored.emplace_back(key);
  if (s.sample && s.beam > 1) {
    s.sample = false;
    read.ignored.emplace_back("do_sample");
  }
  return read;
}

Config GenerationConfig::write() const {
  Config config;
  SearchOptions s = search, defaults;
  visit_config_options([&](const auto& option, const char* key) {
    if (option.setting(s) != option.setting(defaults)) put(config, key, option.setting(s));
  });
  if (s.max_new_tokens == 0 && s.max_length > 0) config.set("max_length", s.max_length);
  if (s.rules.min_length > 0) config.set("min_length", s.rules.min_length);
  if (s.rules.renormalise) config.set("renormalize_logits", true);

  const auto put_ids = [&config](const char* key, const std::vector<std::int32_t>& ids) {
    if (!ids.empty()) config.set(key, integers(ids));
  };
  const auto put_one_or_more = [&](const char* key, const std::vector<std::int32_t>& ids) {
    if (ids.size() == 1)
      config.set(key, std::int64_t{ids[0]});
    else
      put_ids(key, ids);
  };
  std::vector<std::vector<std::int64_t>> bad_words;
  for (const std::vector<std::int32_t>& words : s.rules.bad_words) bad_words.push_back(integers(words));
  if (!bad_words.empty()) config.set("bad_words_ids", bad_words);
  put_ids("begin_suppress_tokens", s.rules.suppressed_first);
  config.set("decoder_start_token_id", std::int64_t{s.start});
  put_one_or_more("eos_token_id", s.ends);
  if (s.rules.forced_first) config.set("forced_bos_token_id", std::int64_t{*s.rules.forced_first});
  put_one_or_more("forced_eos_token_id", s.rules.forced_last);
  if (padding) config.set("pad_token_id", std::int64_t{*padding});
  put_ids("suppress_tokens", s.rules.suppressed);
  return config;
}

void GenerationConfig::save(const std::filesystem::path& folder) const {
  write().save(folder / "generation_config.json");
}

}  // namespace attend
