#include "bench/job.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <vector>

namespace attend::bench {
namespace {

struct Job {
  std::string name, unit;
  double bar = 0;
  std::function<Run()> setup;
  std::function<double()> measure;
};

std::vector<Job>& jobs() {
  static std::vector<Job> all;
  return all;
}

double result_of(const Job& job) {
  // The data of the last job is kept, because the same job is usually requested again.
  static std::string ready;
  static Run run;
  if (job.measure) return job.measure();
  if (ready != job.name) {
    run = nullptr;
    run = job.setup();
    ready = job.name;
  }
  return best_seconds(run);
}

const Job* find(const std::string& name) {
  const auto found = std::ranges::find(jobs(), name, &Job::name);
  return found == jobs().end() ? nullptr : &*found;
}

}  // namespace

double resident_bytes() {
  std::int64_t size = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return static_cast<double>(pages * sysconf(_SC_PAGESIZE));
}

double peak_bytes(const Run& run) {
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
  run();
  std::ifstream status("/proc/self/status");
  std::string word;
  double kilobytes = 0;
  while (status >> word)
    if (word == "VmHWM:") status >> kilobytes;
  return 1024 * kilobytes;
}

void job(std::string name, double bar, std::function<Run()> setup) {
  jobs().push_back({std::move(name), "s", bar, std::move(setup), nullptr});
}

void figure(std::string name, std::string unit, double bar, std::function<double()> measure) {
  jobs().push_back({std::move(name), std::move(unit), bar, nullptr, std::move(measure)});
}

double best_seconds(const Run& run, double budget) {
  using Clock = std::chrono::steady_clock;
  auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  run();
  double best = 1e30;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 3 || seconds_since(start) < budget; ++i) {
    const Clock::time_point before = Clock::now();
    run();
    best = std::min(best, seconds_since(before));
  }
  return best;
}

int serve(int argc, char** argv) try {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const Job& job : jobs()) std::cout << job.name << '\t' << job.unit << '\t' << job.bar << '\n';
    return 0;
  }
  for (int i = 1; i < argc; ++i)
    for (const Job& job : jobs())
      if (std::string(argv[i]) == "all" || job.name == argv[i]) {
        const double result = result_of(job);
        std::printf("%-44s %12.4g %s\n", job.name.c_str(), job.measure ? result : 1e3 * result,
                    job.measure ? job.unit.c_str() : "ms");
      }
  if (argc > 1) return 0;
  for (std::string name; std::getline(std::cin, name);) {
    const Job* job = find(name);
    std::cout << (job ? result_of(*job) : -1.) << std::endl;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

}  // namespace attend::bench
