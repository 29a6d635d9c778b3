// The folder that a verb writes into.
#pragma once
#include <filesystem>

namespace attend::cli {

/// Throws InputError when there is no such folder and none can be made, or nothing can be written into it. Before any
/// long work; afterwards nothing has changed.
void check_output_folder(const std::filesystem::path& folder);

}  // namespace attend::cli
