// Flags of the verbs that generate text, and what else they share.
#pragma once
#include <set>
#include <string>

#include "attend/cli/shared/flags.h"
#include "attend/metrics/perplexity.h"
#include "attend/tasks/language_model/language_model.h"

namespace attend::cli {

/// Adds a flag for each declared option that models of this kind have, but those that are left out by name.
void add_generation_flags(Verb& verb, GenerationOptions& options, OptionModels models,
                          const std::set<std::string>& left_out = {});
/// Adds the flag of one option.
Flag* add_generation_flag(Verb& verb, GenerationOptions& options, const std::string& name);
/// Call it after parsing. Replaces files of bad words by their lines, and draws a random seed if none is given. Throws
/// UsageError for flags that contradict each other.
void finish_generation_flags(GenerationOptions& options);
/// --long refuse|slide.
void add_long_context_flag(Verb& verb, LongContext& long_context);

/// Opens the folder; says which keys of its generation_config.json are not followed.
LanguageModel open_language_model(const std::string& folder);

/// Its tokens that have a probability, and its bytes.
Likelihood likelihood_of(const std::string& text, const TextLikelihood& scored);

/// "eos", "length" or "stop".
const char* name_of(Finish finish);

}  // namespace attend::cli
