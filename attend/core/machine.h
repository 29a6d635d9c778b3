// What the machine, and whoever runs it, gives this process: CPUs and memory, as Linux reports them. What cannot be
// read is 0 or empty.
#pragma once
#include <cstdint>
#include <string>

namespace attend {

struct CpuLimits {
  int online = 0;    ///< CPUs that the system has running
  int cores = 0;     ///< physical cores behind them; 0 when the system does not say
  int allowed = 0;   ///< CPUs in this process's affinity mask
  double quota = 0;  ///< CPUs' worth of time that the tightest cgroup around this process grants; 0: no limit
};
CpuLimits cpu_limits();
std::string cpu_model();

struct MemoryLimits {
  std::int64_t total = 0;      ///< bytes that the machine has
  std::int64_t available = 0;  ///< bytes that can be had now without swapping
  std::int64_t limit = 0;      ///< bytes that the tightest cgroup grants; 0: no limit
  std::int64_t free = 0;       ///< bytes this process can still allocate: `available`, or less inside cgroups
};
MemoryLimits memory_limits();

/// Whether large blocks may lie on huge pages: "always", "madvise" (when asked for, as the arena does) or "never".
std::string huge_pages();

}  // namespace attend
