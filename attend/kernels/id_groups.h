// How backward passes that add rows to a table by their ids divide the work among threads.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "attend/core/threads.h"

namespace attend::kernels {

/// The number of groups of ids, for work of this many floats. Group `id & (groups - 1)` adds the row of an id, so that
/// no two groups write the same row. Every group reads all ids, so one thread has one group only. A power of two, as a
/// division for each id takes longer than to add a short row.
inline std::int64_t id_groups(std::int64_t work, std::int64_t grain) {
  if (threads() <= 1) return 1;
  const auto groups = std::clamp<std::int64_t>(work / grain, 1, 4 * std::int64_t{threads()});
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(groups)));
}

}  // namespace attend::kernels
