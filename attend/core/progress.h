// Progress callbacks of long operations. The caller decides how to show the progress, for example as a progress bar or
// as lines in a log.
#pragma once
#include <cstdint>
#include <functional>

namespace attend {

/// Called from time to time with the amount that is done and the total (0 if unknown). It may throw to stop the
/// operation. An empty function is allowed.
using Progress = std::function<void(std::int64_t done, std::int64_t total)>;

}  // namespace attend
