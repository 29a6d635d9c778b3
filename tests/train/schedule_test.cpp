#include "attend/train/schedule.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

using Kind = Schedule::Kind;

TEST(Schedule, EveryKindWarmsUpLinearlyToOne) {
  for (const Kind kind : {Kind::constant, Kind::linear, Kind::cosine, Kind::inverse_sqrt}) {
    const Schedule schedule{.kind = kind, .warmup = 4, .total = 20};
    EXPECT_DOUBLE_EQ(schedule(0), 0.25);
    EXPECT_DOUBLE_EQ(schedule(3), 1.0);
  }
}

TEST(Schedule, LinearAndCosineFallToTheFloorAndStayThere) {
  for (const Kind kind : {Kind::linear, Kind::cosine}) {
    const Schedule schedule{.kind = kind, .warmup = 10, .total = 30, .floor = 0.1};
    EXPECT_DOUBLE_EQ(schedule(10), 1.0);
    EXPECT_NEAR(schedule(20), 0.55, 1e-12);
    EXPECT_NEAR(schedule(30), 0.1, 1e-12);
    EXPECT_NEAR(schedule(1000), 0.1, 1e-12);
  }
}

TEST(Schedule, InverseSquareRootIsThePapersFormulaDividedByItsMaximum) {
  const Schedule schedule{.kind = Kind::inverse_sqrt, .warmup = 4000};
  const auto paper = [](double step) { return std::min(1 / std::sqrt(step), step * std::pow(4000., -1.5)); };
  for (const std::int64_t step : {1, 100, 4000, 4001, 100000})
    EXPECT_NEAR(schedule(step - 1), paper(static_cast<double>(step)) / paper(4000.), 1e-12);
}

TEST(Schedule, WithoutWarmUpTheFirstFactorIsOne) {
  EXPECT_DOUBLE_EQ(Schedule{}(0), 1.0);
  EXPECT_DOUBLE_EQ((Schedule{.kind = Kind::cosine, .total = 0}(0)), 0.0);
  EXPECT_DOUBLE_EQ((Schedule{.kind = Kind::inverse_sqrt}(0)), 1.0);
}

}  // namespace
}  // namespace attend
