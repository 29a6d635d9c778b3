// Learning-rate schedules: pure functions from a step, counted from 0, to the factor that the learning rate is
// multiplied by. All rise linearly over the warm-up steps: (step + 1) / warmup, so that no step is wasted at 0.
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
  std::int64_t warmup = 0;  ///< steps
  std::int64_t total = 0;   ///< steps until linear and cosine reach `floor`, where they stay
  double floor = 0.0;       ///< the factor at the end of linear and cosine

  /// 1 after the warm-up; linear and cosine fall from there to `floor` at step `total`; inverse_sqrt falls as
  /// sqrt(warmup / (step + 1)) (Vaswani et al. 2017, eq. 3, as a factor of its peak).
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
  /// How much of the way from the warm-up's end to `total` is gone, in [0, 1].
  double progress(std::int64_t step) const {
    if (step >= total) return 1.0;
    return static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
  }
};

/// As flags call them.
inline const std::vector<std::pair<std::string, Schedule::Kind>> kScheduleNames = {
    {"constant", Schedule::Kind::constant},
    {"linear", Schedule::Kind::linear},
    {"cosine", Schedule::Kind::cosine},
    {"inverse-sqrt", Schedule::Kind::inverse_sqrt}};

}  // namespace attend
