// What the program says about a model's folder.
#pragma once
#include <filesystem>

namespace attend::cli {

/// Warns where loading its weights changes them. Throws InputError as loading does.
void warn_of_weights(const std::filesystem::path& folder);

}  // namespace attend::cli
