// What the verbs that generate text share: their flags, and opening the model.
#pragma once
#include <set>
#include <string>

#include "attend/cli/shared/flags.h"
#include "attend/metrics/perplexity.h"
#include "attend/tasks/language_model/language_model.h"

namespace attend::cli {

/// Adds a flag for each declared option that models of this kind have, except those that are left out by name.
void add_generation_flags(Verb& verb, GenerationOptions& options, OptionModels models,
                          const std::set<std::string>& left_out = {});
/// Adds the flag of one option.
Flag* add_generation_flag(Verb& verb, GenerationOptions& options, const std::string& name);
/// Call it after parsing. Replaces files of bad words, grammars and schemas by what they hold, and chooses a random
/// seed if none is given. Throws UsageError for flags that contradict each other.
void finish_generation_flags(GenerationOptions& options);
/// --long error|slide.
void add_long_context_flag(Verb& verb, LongContext& long_context);

/// Opens the folder, and warns of keys of its generation_config.json that are not supported.
LanguageModel open_language_model(const std::string& folder, const std::string& adapter);

/// The number of its tokens that have a probability, and of its bytes.
Likelihood likelihood_of(const std::string& text, const TextLikelihood& scored);

/// "eos", "length" or "stop".
const char* finish_name(Finish finish);

}  // namespace attend::cli
