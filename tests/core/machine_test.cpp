#include "attend/core/machine.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"

namespace attend {
namespace {

TEST(Machine, ThreadsDoNotExceedTheCpusOfTheProcess) {
  const CpuLimits limits = cpu_limits();
  EXPECT_GE(limits.allowed, 1);
  EXPECT_LE(limits.allowed, limits.online);
  EXPECT_LE(available_cpus(), limits.allowed);
  if (limits.quota > 0) {
    EXPECT_LT(available_cpus(), limits.quota + 1);
  }
}

TEST(Machine, AvailableMemoryIsAPartOfTheTotal) {
  const MemoryLimits limits = memory_limits();
  EXPECT_GT(limits.available, 0);
  EXPECT_LE(limits.available, limits.total);
  EXPECT_LT(limits.limit, limits.total);
  EXPECT_GT(limits.free, 0);
  EXPECT_LE(limits.free, limits.available);
  if (limits.limit > 0) {
    EXPECT_LT(limits.free, limits.limit);
  }
}

}  // namespace
}  // namespace attend
