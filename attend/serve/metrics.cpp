#include "attend/serve/metrics.h"

#include <sstream>

namespace attend::serve {

void Metrics::count(const std::string& path, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{path, status}];
  Times& times = times_[path];
  for (std::size_t i = 0; i < kBounds.size(); ++i) times.within[i] += seconds <= kBounds[i];
  ++times.count, times.sum += seconds;
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::ostringstream out;
  out << "# HELP attend_requests_total Requests that were answered.\n# TYPE attend_requests_total counter\n";
  for (const auto& [key, count] : requests_)
    out << "attend_requests_total{path=\"" << key.first << "\",status=\"" << key.second << "\"} " << count << '\n';
  out << "# HELP attend_request_seconds From a request to its answer; of a stream, to its end.\n"
         "# TYPE attend_request_seconds histogram\n";
  for (const auto& [path, times] : times_) {
    for (std::size_t i = 0; i < kBounds.size(); ++i)
      out << "attend_request_seconds_bucket{path=\"" << path << "\",le=\"" << kBounds[i] << "\"} " << times.within[i]
          << '\n';
    out << "attend_request_seconds_bucket{path=\"" << path << "\",le=\"+Inf\"} " << times.count << '\n'
        << "attend_request_seconds_sum{path=\"" << path << "\"} " << times.sum << '\n'
        << "attend_request_seconds_count{path=\"" << path << "\"} " << times.count << '\n';
  }
  return out.str();
}

}  // namespace attend::serve
