// CPUs and memory that are available to this process, as Linux reports them. A value that cannot be read is 0 or empty.
#pragma once
#include <cstdint>
#include <string>

namespace attend {

struct CpuLimits {
  int online = 0;    ///< logical CPUs that are online
  int cores = 0;     ///< physical cores; 0 if unknown
  int allowed = 0;   ///< CPUs in this process's affinity mask
  double quota = 0;  ///< CPU quota of the strictest cgroup, in CPUs (1.5: one and a half CPUs); 0 if there is no limit
};
CpuLimits cpu_limits();
std::string cpu_model();

struct MemoryLimits {
  std::int64_t total = 0;      ///< bytes of physical memory
  std::int64_t available = 0;  ///< bytes that can be allocated now without swapping
  std::int64_t limit = 0;      ///< limit of the strictest cgroup in bytes; 0 if there is no limit
  std::int64_t free = 0;       ///< bytes that this process can still allocate: `available`, or less inside cgroups
};
MemoryLimits memory_limits();

/// The system's setting for transparent huge pages: "always", "madvise" (only on request; the allocator requests them)
/// or "never".
std::string huge_pages();

}  // namespace attend
