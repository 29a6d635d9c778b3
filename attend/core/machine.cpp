#include "attend/core/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {
namespace {

namespace fs = std::filesystem;

/// The folders of this process's cgroups for one controller, innermost first. cgroup v2 has one tree for all
/// controllers, v1 has one tree for each. Inside a container, possibly only the root of the tree exists.
std::vector<fs::path> cgroup_folders(std::string_view controller) {
  std::vector<fs::path> folders;
  std::ifstream memberships("/proc/self/cgroup");  // lines of "number:controllers:/path"
  for (std::string line; std::getline(memberships, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = ',' + line.substr(first + 1, second - first - 1) + ',';
    const bool version2 = names == ",,";
    if (!version2 && names.find(',' + std::string(controller) + ',') == std::string::npos) continue;
    const fs::path root = version2 ? fs::path("/sys/fs/cgroup") : fs::path("/sys/fs/cgroup") / controller;
    for (fs::path inner = fs::path(line.substr(second + 1)).relative_path(); !inner.empty();
         inner = inner.parent_path())
      folders.push_back(root / inner);
    folders.push_back(root);
  }
  return folders;
}

/// The number at the start of a file; `otherwise` if there is none, for example if the file contains "max".
double number_in(const fs::path& file, double otherwise) {
  std::ifstream in(file);
  double value = 0;
  return in >> value ? value : otherwise;
}

/// The number after `key` in a file of lines "key number"; 0 when there is none.
std::int64_t entry_in(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  std::int64_t value = 0;
  for (std::string name; in >> name >> value;)
    if (name == key) return value;
  return 0;
}

/// Bytes that a cgroup uses and cannot give back; cached files can be dropped.
std::int64_t bytes_in_use(const fs::path& cgroup) {
  const bool version2 = fs::exists(cgroup / "memory.current");
  const double used = number_in(cgroup / (version2 ? "memory.current" : "memory.usage_in_bytes"), 0);
  std::int64_t kept = static_cast<std::int64_t>(used);
  for (const std::string cached : {"inactive_file", "active_file"})
    kept -= entry_in(cgroup / "memory.stat", (version2 ? "" : "total_") + cached);
  return std::max<std::int64_t>(kept, 0);
}

/// The value of the first line of the form "key: value"; empty if no line starts with `key`.
std::string field_in(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

double cgroup_quota() {
  double tightest = 0;
  for (const fs::path& folder : cgroup_folders("cpu")) {
    double quota = -1, period = 0;
    if (std::ifstream both(folder / "cpu.max"); both >> quota) {
      both >> period;
    } else {
      quota = number_in(folder / "cpu.cfs_quota_us", -1);
      period = number_in(folder / "cpu.cfs_period_us", 0);
    }
    if (quota > 0 && period > 0) tightest = tightest == 0 ? quota / period : std::min(tightest, quota / period);
  }
  return tightest;
}

int physical_cores() {
  std::ifstream in("/proc/cpuinfo");
  std::set<std::pair<std::string, std::string>> cores;
  std::string package;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("physical id")) package = line;
    if (line.starts_with("core id")) cores.emplace(package, line);
  }
  return static_cast<int>(cores.size());
}

std::int64_t bytes_in_meminfo(std::string_view key) {
  return 1024 * std::strtoll(field_in("/proc/meminfo", key).c_str(), nullptr, 10);
}

}  // namespace

CpuLimits cpu_limits() {
  CpuLimits limits;
  limits.online = static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 0L));
  limits.cores = physical_cores();
  cpu_set_t set;
  limits.allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : limits.online;
  limits.quota = cgroup_quota();
  return limits;
}

std::string cpu_model() { return field_in("/proc/cpuinfo", "model name"); }

MemoryLimits memory_limits() {
  MemoryLimits limits;
  limits.total = bytes_in_meminfo("MemTotal");
  limits.available = limits.free = bytes_in_meminfo("MemAvailable");
  for (const fs::path& folder : cgroup_folders("memory")) {
    double limit = number_in(folder / "memory.max", 0);
    if (limit == 0) limit = number_in(folder / "memory.limit_in_bytes", 0);
    // cgroup v1 represents "no limit" by a number that is larger than any machine's memory.
    if (limit <= 0 || limit >= static_cast<double>(limits.total)) continue;
    const auto bytes = static_cast<std::int64_t>(limit);
    limits.limit = limits.limit == 0 ? bytes : std::min(limits.limit, bytes);
    limits.free = std::min(limits.free, std::max<std::int64_t>(bytes - bytes_in_use(folder), 0));
  }
  return limits;
}

std::string huge_pages() {
  std::ifstream in("/sys/kernel/mm/transparent_hugepage/enabled");  // "always [madvise] never"
  for (std::string word; in >> word;)
    if (word.starts_with('[')) return word.substr(1, word.size() - 2);
  return "";
}

}  // namespace attend
