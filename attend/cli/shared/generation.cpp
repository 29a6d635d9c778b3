#include "attend/cli/shared/generation.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"

namespace attend::cli {

void add_generation_flags(CLI::App& verb, GenerateOptions& options) {
  const auto share = between(0.0, 1.0);
  const char* group = "Sampling (any of these draws tokens by chance; otherwise as the model's folder says)";
  const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type)->group(group);
  };
  verb.add_flag("--sample", options.sample, "Draw tokens by chance")->group(group);
  add("--temperature", options.temperature, "Below 1 likely tokens become likelier, above 1 less so", "X")
      ->check(kPositive);
  add("--top-k", options.top_k, "Only the N likeliest tokens; 0: all, unless given 50", "N")->check(kNotNegative);
  add("--top-p", options.top_p, "Only the likeliest tokens that together have this probability", "P")->check(share);
  add("--min-p", options.min_p, "Only tokens with at least this share of the likeliest one's probability", "P")
      ->check(share);
  add("--seed", options.seed, "Of the chance; the same seed gives the same prompt the same text", "N");

  group = "Searching (otherwise as the model's folder says)";
  CLI::Option* greedy = verb.add_flag("--greedy", options.greedy, "Always the likeliest token")->group(group);
  CLI::Option* beam = add("--beam", options.beam, "Beginnings that are followed at once; 1 is greedy", "N");
  beam->check(kPositive);
  greedy->excludes(beam);
  for (const char* chance : {"--sample", "--temperature", "--top-k", "--top-p", "--min-p"})
    greedy->excludes(verb.get_option(chance)), beam->excludes(verb.get_option(chance));
  add("--length-penalty", options.length_penalty, "Scores of a beam are divided by the length to this power", "X");
  add("--max-new-tokens", options.max_new_tokens, "Tokens of a text at most; 128 where nobody says", "N")
      ->check(kPositive);
  add("--min-new-tokens", options.min_new_tokens, "Tokens of a text at least", "N")->check(kNotNegative);
  add("--no-repeat-ngram", options.no_repeat_ngram, "No N tokens in a row come twice; 0: they may", "N")
      ->check(kNotNegative);
  add("--repetition-penalty", options.repetition_penalty, "Above 1, tokens that came already are less welcome", "X")
      ->check(kPositive);
  add("--presence-penalty", options.presence_penalty, "Taken from the scores of tokens that were generated already",
      "X");
  add("--frequency-penalty", options.frequency_penalty, "The same for each time that they were", "X");

  group = "Ending";
  add("--stop", options.stop, "End before this text; may be given several times", "TEXT")->allow_extra_args(false);
  verb.add_flag("--ignore-eos", options.ignore_eos, "Never end by itself")->group(group);
  add_choice(verb, "--long", options.long_context, {{"refuse", LongContext::refuse}, {"slide", LongContext::slide}},
             "A text that grows beyond what the model sees is refused, or slides: its beginning is forgotten")
      ->group(group);
}

LanguageModel open_language_model(const std::string& folder) {
  LanguageModel model{std::filesystem::path(folder)};
  warn_of_weights(folder);
  std::string keys;
  for (const std::string& key : model.generation().ignored) keys += (keys.empty() ? "" : ", ") + key;
  if (!keys.empty()) warn(folder + ": what its generation_config.json says of these is not followed: " + keys);
  return model;
}

Likelihood likelihood_of(const std::string& text, const TextLikelihood& scored) {
  Likelihood likelihood{.logprob = scored.logprob, .tokens = 0, .bytes = std::ssize(text)};
  for (const double logprob : scored.logprobs) likelihood.tokens += !std::isnan(logprob);
  return likelihood;
}

const char* name_of(Finish finish) {
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
