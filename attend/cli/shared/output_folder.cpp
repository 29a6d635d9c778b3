#include "attend/cli/shared/output_folder.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "attend/core/error.h"

namespace attend::cli {

namespace fs = std::filesystem;

void check_output_folder(const fs::path& folder) {
  std::error_code ignored, problem;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    fail<InputError>("output", folder.string(), ": is a file, expected a folder");
  // Only an attempt tells whether it can be made. What it makes goes again, the innermost first.
  std::vector<fs::path> made;
  for (fs::path at = fs::absolute(folder); !fs::exists(at, ignored) && at.has_relative_path(); at = at.parent_path())
    made.push_back(at);
  fs::create_directories(folder, problem);
  if (!problem && ::access(folder.c_str(), W_OK | X_OK) != 0) problem.assign(errno, std::generic_category());
  for (const fs::path& path : made) fs::remove(path, ignored);
  if (problem)
    fail<InputError>("output", folder.string(),
                     made.empty() ? ": cannot be written into: " : ": cannot be made: ", problem.message());
}

}  // namespace attend::cli
