#include "attend/core/stop.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace attend {
namespace {

TEST(StopCheck, IsCalledWhileItLivesOnItsThread) {
  int calls = 0;
  check_stop();
  {
    const StopCheck check([&] { ++calls; });
    check_stop();
    std::thread(check_stop).join();
    EXPECT_EQ(calls, 1);
    {
      const StopCheck inner([] { throw std::runtime_error("stop"); });
      EXPECT_THROW(check_stop(), std::runtime_error);
    }
    check_stop();
  }
  check_stop();
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace attend
