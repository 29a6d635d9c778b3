// Learning-rate schedules: functions from a step, counted from 0, to a factor of the learning rate. During warm-up the
// factor rises linearly as (step + 1) / warmup, so that the first step already has an effect.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace attend {

struct Schedule {
  enum class Kind : std::uint8_t { constant, linear, cosine, inverse_sqrt };
  Kind kind = Kind::constant;
  std::int64_t warmup = 0;  ///< number of warm-up steps
  std::int64_t total = 0;   ///< the step at which linear and cosine reach `floor`; they stay there
  double floor = 0.0;       ///< the final factor of linear and cosine

  /// The factor after the warm-up: constant is 1; linear and cosine fall from 1 to `floor` at step `total`;
  /// inverse_sqrt is sqrt(warmup / (step + 1)) (Vaswani et al. 2017, eq. 3, divided by its maximum).
  double operator()(std::int64_t step) const {
    if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
    switch (kind) {
      case Kind::constant:
        return 1.0;
      case Kind::linear:
        return floor + (1 - floor) * (1 - progress(step));
      case Kind::cosine:
        return floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress(step)));
      case Kind::inverse_sqrt:
        return std::sqrt(static_cast<double>(std::max<std::int64_t>(warmup, 1)) / static_cast<double>(step + 1));
    }
    return 1.0;
  }

 private:
  /// The fraction of the steps from the end of the warm-up to `total` that are done, in [0, 1].
  double progress(std::int64_t step) const {
    if (step >= total) return 1.0;
    return static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
  }
};

/// The names on the command line.
inline const std::vector<std::pair<std::string, Schedule::Kind>> kScheduleNames = {
    {"constant", Schedule::Kind::constant},
    {"linear", Schedule::Kind::linear},
    {"cosine", Schedule::Kind::cosine},
    {"inverse-sqrt", Schedule::Kind::inverse_sqrt}};

}  // namespace attend
