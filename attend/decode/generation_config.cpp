#include "attend/decode/generation_config.h"

#include <limits>

#include "attend/core/error.h"

namespace attend {
namespace {

/// Keys that we do not follow, and the value with which they change nothing.
constexpr std::pair<const char*, const char*> kNotFollowed[] = {{"constraints", ""},
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

std::int32_t id(const char* key, std::int64_t integer) {
  if (integer < 0 || integer > std::numeric_limits<std::int32_t>::max())
    fail<InputError>("config", "\"", key, "\": ", integer, " is no token's id");
  return static_cast<std::int32_t>(integer);
}
std::vector<std::int32_t> ids(const char* key, const std::vector<std::int64_t>& integers) {
  std::vector<std::int32_t> all;
  for (const std::int64_t integer : integers) all.push_back(id(key, integer));
  return all;
}
std::vector<std::int64_t> integers(const std::vector<std::int32_t>& ids) { return {ids.begin(), ids.end()}; }

/// The value under a key, if it stands there.
void take(const Config& config, const char* key, std::int64_t& value) { value = config.integer(key, value); }
void take(const Config& config, const char* key, double& value) { value = config.number(key, value); }
void take(const Config& config, const char* key, bool& value) { value = config.flag(key, value); }
void take(const Config& config, const char* key, std::vector<std::int32_t>& value) {
  if (config.has(key)) value = ids(key, config.integers(key));
}
void take(const Config& config, const char* key, std::optional<std::int32_t>& value) {
  if (config.has(key)) value = id(key, config.integer(key));
}

EarlyStopping early_stopping(const Config& config, EarlyStopping otherwise) {
  if (config.json("early_stopping") == "\"never\"") return EarlyStopping::never;
  if (!config.has("early_stopping")) return otherwise;
  return config.flag("early_stopping") ? EarlyStopping::yes : EarlyStopping::no;
}

bool is_neutral(const Config& config, const char* key, const std::string& neutral) {
  if (!config.has(key) || config.json(key) == neutral) return true;
  return !neutral.empty() && config.number(key) == std::stod(neutral);
}

}  // namespace

GenerationConfig GenerationConfig::read(const std::filesystem::path& folder, const SearchOptions& search) {
  const std::filesystem::path file = folder / "generation_config.json";
  return read(Config(std::filesystem::exists(file) ? file : folder / "config.json"), search);
}

GenerationConfig GenerationConfig::read(const Config& config, const SearchOptions& search) {
  GenerationConfig read{search};
  SearchOptions& s = read.search;
  take(config, "num_beams", s.beam);
  take(config, "num_return_sequences", s.nbest);
  take(config, "do_sample", s.sample);
  take(config, "temperature", s.sampling.temperature);
  take(config, "top_k", s.sampling.top_k);
  take(config, "top_p", s.sampling.top_p);
  take(config, "min_p", s.sampling.min_p);
  take(config, "length_penalty", s.length_penalty);
  s.early_stopping = early_stopping(config, s.early_stopping);
  take(config, "max_new_tokens", s.max_new_tokens);
  take(config, "max_length", s.max_length);

  std::optional<std::int32_t> start;
  take(config, "bos_token_id", start);
  take(config, "decoder_start_token_id", start);
  s.start = start.value_or(s.start);
  take(config, "eos_token_id", s.ends);
  take(config, "pad_token_id", read.padding);

  take(config, "repetition_penalty", s.rules.repetition_penalty);
  take(config, "no_repeat_ngram_size", s.rules.no_repeat_ngram);
  take(config, "min_new_tokens", s.rules.min_new_tokens);
  take(config, "min_length", s.rules.min_length);
  if (config.has("min_new_tokens")) s.rules.min_length = 0;  // which it replaces
  take(config, "forced_bos_token_id", s.rules.forced_first);
  take(config, "forced_eos_token_id", s.rules.forced_last);
  take(config, "suppress_tokens", s.rules.suppressed);
  take(config, "begin_suppress_tokens", s.rules.suppressed_first);
  take(config, "renormalize_logits", s.rules.renormalise);
  if (config.has("bad_words_ids")) {
    s.rules.bad_words.clear();
    for (const std::vector<std::int64_t>& words : config.integer_lists("bad_words_ids"))
      s.rules.bad_words.push_back(ids("bad_words_ids", words));
  }

  for (const auto& [key, neutral] : kNotFollowed)
    if (!is_neutral(config, key, neutral)) read.ignored.emplace_back(key);
  if (s.sample && s.beam > 1) {
    s.sample = false;
    read.ignored.emplace_back("do_sample");
  }
  return read;
}

Config GenerationConfig::write() const {
  Config config;
  const SearchOptions &s = search, usual;
  const auto put = [&config](const char* key, const auto& value, const auto& otherwise) {
    if (value != otherwise) config.set(key, value);
  };
  std::vector<std::vector<std::int64_t>> bad_words;
  for (const std::vector<std::int32_t>& words : s.rules.bad_words) bad_words.push_back(integers(words));
  const std::vector<std::int64_t> none;
  put("bad_words_ids", bad_words, std::vector<std::vector<std::int64_t>>());
  put("begin_suppress_tokens", integers(s.rules.suppressed_first), none);
  config.set("decoder_start_token_id", std::int64_t{s.start});
  put("do_sample", s.sample, usual.sample);
  if (s.early_stopping == EarlyStopping::never) config.set("early_stopping", "never");
  if (s.early_stopping == EarlyStopping::yes) config.set("early_stopping", true);
  if (s.ends.size() == 1)
    config.set("eos_token_id", std::int64_t{s.ends[0]});
  else
    put("eos_token_id", integers(s.ends), none);
  if (s.rules.forced_first) config.set("forced_bos_token_id", std::int64_t{*s.rules.forced_first});
  if (s.rules.forced_last.size() == 1)
    config.set("forced_eos_token_id", std::int64_t{s.rules.forced_last[0]});
  else
    put("forced_eos_token_id", integers(s.rules.forced_last), none);
  put("length_penalty", s.length_penalty, usual.length_penalty);
  if (s.max_new_tokens > 0)
    config.set("max_new_tokens", s.max_new_tokens);
  else if (s.max_length > 0)
    config.set("max_length", s.max_length);
  put("min_length", s.rules.min_length, usual.rules.min_length);
  put("min_new_tokens", s.rules.min_new_tokens, usual.rules.min_new_tokens);
  put("min_p", s.sampling.min_p, usual.sampling.min_p);
  put("no_repeat_ngram_size", s.rules.no_repeat_ngram, usual.rules.no_repeat_ngram);
  put("num_beams", s.beam, usual.beam);
  put("num_return_sequences", s.nbest, usual.nbest);
  if (padding) config.set("pad_token_id", std::int64_t{*padding});
  put("renormalize_logits", s.rules.renormalise, usual.rules.renormalise);
  put("repetition_penalty", s.rules.repetition_penalty, usual.rules.repetition_penalty);
  put("suppress_tokens", integers(s.rules.suppressed), none);
  put("temperature", s.sampling.temperature, usual.sampling.temperature);
  put("top_k", s.sampling.top_k, usual.sampling.top_k);
  put("top_p", s.sampling.top_p, usual.sampling.top_p);
  return config;
}

void GenerationConfig::save(const std::filesystem::path& folder) const {
  write().save(folder / "generation_config.json");
}

}  // namespace attend
