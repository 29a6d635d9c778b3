// attend doctor: shows the CPU, memory and threads of this machine, what the build uses of them, and what makes Attend
// slow.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "attend/cli/shared/json_line.h"
#include "attend/cli/verbs.h"
#include "attend/core/machine.h"
#include "attend/core/threads.h"
#include "attend/core/version.h"
#include "attend/kernels/cpu.h"

namespace attend::cli {
namespace {

struct Diagnosis {
  BuildFacts build = build_facts();
  std::string cpu = cpu_model();
  CpuLimits cpus = cpu_limits();
  int threads = attend::threads();
  double load = 0;  // processes that wanted a CPU in the last minute, on average
  std::string own_instructions = kernels::simd_instructions();
  std::string onednn_instructions = kernels::onednn_instructions();
  MemoryLimits memory = memory_limits();
  std::string huge_pages = attend::huge_pages();
  std::vector<std::string> warnings;
};

template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// With one digit after the point.
std::string rounded(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << value;
  return out.str();
}

std::string gigabytes(std::int64_t bytes) { return rounded(static_cast<double>(bytes) / 1e9) + " GB"; }

/// The standard that a compiler names by its date.
std::string openmp_version(int date) {
  switch (date) {
    case 201511:
      return "4.5";
    case 201811:
      return "5.0";
    case 202011:
      return "5.1";
    case 202111:
      return "5.2";
    default:
      return std::to_string(date);
  }
}

/// What decides the number of threads, and how they wait for each other.
std::string reason_of(const Diagnosis& d) {
  std::string reason = text(d.cpus.online, " CPUs online");
  if (d.cpus.cores > 0) reason += text(" (", d.cpus.cores, d.cpus.cores == 1 ? " core)" : " cores)");
  reason += d.cpus.allowed < d.cpus.online ? text(", affinity allows ", d.cpus.allowed) : ", affinity allows all";
  reason += d.cpus.quota > 0 ? text(", cgroup grants ", d.cpus.quota) : ", no cgroup quota";
  for (const char* name : {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"})
    if (const char* value = std::getenv(name)) reason += text(", ", name, '=', value);
  return reason;
}

std::vector<std::string> warnings_of(const Diagnosis& d) {
  constexpr std::int64_t kLittleMemory = 1'000'000'000;
  std::vector<std::string> found;
  if (d.build.checked)
    found.emplace_back(text("a ", d.build.type, " build checks itself as it runs: use a Release build"));
  if (*d.build.sanitizer)
    found.emplace_back(text("built with the ", d.build.sanitizer, " sanitizer: several times slower"));
  if (d.own_instructions.starts_with("SSE") || d.own_instructions == "SCALAR" || d.own_instructions == "EMU128")
    found.emplace_back(text("no AVX2 on this CPU: the kernels fall back to ", d.own_instructions));
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
    if (const char* value = std::getenv(name))
      found.emplace_back(text(name, '=', value, " limits oneDNN to older instructions"));
  if (d.threads < available_cpus())
    found.emplace_back(text("only ", d.threads, " of ", available_cpus(), " usable CPUs are in use"));
  if (d.threads > available_cpus())
    found.emplace_back(
        text(d.threads, " threads share ", available_cpus(), " usable CPUs and will wait for each other"));
  if (d.cpus.quota > 0 && d.cpus.quota < d.threads)
    found.emplace_back(
        text("the cgroup grants ", d.cpus.quota, " CPUs to ", d.threads, " threads: they will be paused"));
  if (d.load > 0.5 * d.cpus.online)
    found.emplace_back(text("the machine is busy with other work: load ", rounded(d.load), " on ", d.cpus.online,
                            " CPUs; with --threads 1, Attend does not have to wait for a second free CPU"));
  if (d.huge_pages == "never") found.emplace_back("huge pages are off: large tensors cause more page faults");
  if (d.memory.available > 0 && d.memory.available < kLittleMemory)
    found.emplace_back(text("little memory is available: ", gigabytes(d.memory.available)));
  return found;
}

Diagnosis diagnose() {
  Diagnosis d;
  getloadavg(&d.load, 1);
  d.warnings = warnings_of(d);
  return d;
}

void print_text(const Diagnosis& d, std::ostream& out) {
  auto line = [&](std::string name, const std::string& value) {
    name.resize(14, ' ');
    out << name << value << '\n';
  };
  std::string memory = gigabytes(d.memory.total) + ", " + gigabytes(d.memory.available) + " available";
  if (d.memory.limit > 0) memory += ", cgroup grants " + gigabytes(d.memory.limit);
  line("Attend", text(version(), ", ", d.build.compiler, ", ", d.build.type));
  line("CPU", d.cpu.empty() ? "unknown" : d.cpu);
  line("Instructions", text("own kernels ", d.own_instructions, ", oneDNN ", d.onednn_instructions));
  line("Threads", text(d.threads, ": ", reason_of(d)));
  line("Memory", memory);
  line("Huge pages", d.huge_pages.empty() ? "unknown" : d.huge_pages);
  line("Libraries", text("oneDNN ", kernels::onednn_version(), ", Highway ", kernels::highway_version(), ", OpenMP ",
                         openmp_version(d.build.openmp)));
  if (d.warnings.empty()) out << "\nNo problems found.\n";
  for (const std::string& warning : d.warnings) out << "\nwarning: " << warning;
  if (!d.warnings.empty()) out << '\n';
}

void print_json(const Diagnosis& d, std::ostream& out) {
  nlohmann::ordered_json json;
  json["version"] = version();
  json["build"] = {{"compiler", d.build.compiler}, {"type", d.build.type}, {"sanitizer", d.build.sanitizer}};
  json["cpu"] = {{"model", d.cpu},        {"online", d.cpus.online},
                 {"cores", d.cpus.cores}, {"allowed", d.cpus.allowed},
                 {"quota", d.cpus.quota}, {"load", d.load}};
  json["instructions"] = {{"own", d.own_instructions}, {"onednn", d.onednn_instructions}};
  json["threads"] = d.threads;
  json["memory"] = {{"total", d.memory.total}, {"available", d.memory.available}, {"limit", d.memory.limit}};
  json["huge_pages"] = d.huge_pages;
  json["libraries"] = {{"onednn", kernels::onednn_version()},
                       {"highway", kernels::highway_version()},
                       {"openmp", openmp_version(d.build.openmp)}};
  json["warnings"] = d.warnings;
  out << as_line(json);
}

}  // namespace

void add_doctor(Verb& program) {
  Verb* verb = program.add_subcommand("doctor", "Show what this machine offers, and what would make Attend slow on it");
  verb->group(kTheMachine);
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "Print one JSON object");
  verb->callback([json] {
    const Diagnosis diagnosis = diagnose();
    *json ? print_json(diagnosis, std::cout) : print_text(diagnosis, std::cout);
  });
}

}  // namespace attend::cli
