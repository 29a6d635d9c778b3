// How long work tells how far it is. The library calls; who shows it (a bar on a terminal, a line in a log) is the
// caller's business.
#pragma once
#include <cstdint>
#include <functional>

namespace attend {

/// Called now and then with what is done of how much (0: not known). May throw to stop the work; an empty one is fine.
using Progress = std::function<void(std::int64_t done, std::int64_t total)>;

}  // namespace attend
