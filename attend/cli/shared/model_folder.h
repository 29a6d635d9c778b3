// The folder of a model: its flags, and warnings about it.
#pragma once
#include <filesystem>
#include <string>

#include "attend/cli/shared/flags.h"
#include "attend/models/registry.h"

namespace attend::cli {

/// --adapter DIR.
Flag* add_adapter_flag(Verb& verb, std::string& adapter);
/// Opens the folder of a model or of a sentence-transformers model, with an adapter unless that is empty.
ModelFolder open_model(const std::string& model, const std::string& adapter);

/// Warns if loading changes the weights. Throws InputError if they cannot be loaded.
void warn_of_weights(const std::filesystem::path& folder);

}  // namespace attend::cli
