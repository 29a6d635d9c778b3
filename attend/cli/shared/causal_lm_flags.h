// Flags of a new language model, for all verbs that train one.
#pragma once
#include <functional>
#include <optional>

#include "attend/cli/shared/flags.h"
#include "attend/models/causal_lm.h"

namespace attend::cli {

/// --arch, --layers, --heads, --kv-heads, --width, --inner, --dropout, --bias and --tied-output, under "The network".
/// The values of `model` are the defaults. The result is to be called before the model is made: it checks the flags,
/// and completes `model`. Throws UsageError.
std::function<void()> add_causal_lm_flags(Verb& verb, CausalLmOptions& model, std::optional<float>& dropout);

/// --dropout of a model that is fine-tuned.
void add_own_dropout_flag(Verb& verb, std::optional<float>& dropout);

}  // namespace attend::cli
