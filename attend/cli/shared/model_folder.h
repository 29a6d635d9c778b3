// Warnings about a model's folder.
#pragma once
#include <filesystem>

namespace attend::cli {

/// Warns if loading changes the weights. Throws InputError if they cannot be loaded.
void warn_of_weights(const std::filesystem::path& folder);

}  // namespace attend::cli
