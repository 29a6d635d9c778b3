// What the verbs that write text share: their flags.
#pragma once
#include <string>

#include "attend/tasks/language_model/language_model.h"
#include "attend/metrics/perplexity.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attend::cli {

/// --max-new-tokens, --temperature, --top-k, --stop, --seed and so on, into `options`.
void add_generation_flags(CLI::App& verb, GenerateOptions& options);

/// Opens the folder; says which keys of its generation_config.json are not followed.
LanguageModel open_language_model(const std::string& folder);

/// Its tokens that have a probability, and its bytes.
Likelihood likelihood_of(const std::string& text, const TextLikelihood& scored);

/// "eos", "length" or "stop".
const char* name_of(Finish finish);

}  // namespace attend::cli
