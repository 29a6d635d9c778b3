// Counters of the server, in the text format of Prometheus.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace attend::serve {

/// Safe from many threads.
class Metrics {
 public:
  void count(const std::string& path, int status, double seconds);
  /// The counters of requests. The API adds those of the models.
  std::string text() const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    5,     30};  // seconds
  struct Times {
    std::array<std::uint64_t, kBounds.size()> within = {};
    std::uint64_t count = 0;
    double sum = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Times> times_;
};

}  // namespace attend::serve
