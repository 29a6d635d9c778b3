#include "attend/core/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "attend/core/error.h"

namespace attend {
namespace {

TEST(Memory, BlocksAreAlignedAndCounted) {
  const std::size_t before = memory_use().current;
  {
    std::vector<Block> blocks;
    for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000, 100000, 3 << 20}) {
      blocks.push_back(allocate(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().get()) % 64, 0u);
      std::memset(blocks.back().get(), 1, bytes);
    }
    EXPECT_GE(memory_use().current, before + 3170 * 1024);
    EXPECT_LE(memory_use().current, before + 3600 * 1024);  // rounding wastes little
  }
  EXPECT_EQ(memory_use().current, before);
}

TEST(Memory, ThePeakIsKeptUntilItIsReset) {
  reset_peak_memory();
  const std::size_t before = memory_use().peak;
  allocate(1 << 20).reset();
  EXPECT_GE(memory_use().peak, before + (1 << 20));
  reset_peak_memory();
  EXPECT_EQ(memory_use().peak, memory_use().current);
}

TEST(Memory, CachedBlocksCanBeReleased) {
  allocate(1 << 20).reset();
  release_cached_memory();
  EXPECT_EQ(memory_use().cached, 0u);
}

TEST(Memory, TheAllocatorIsThreadSafe) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (std::size_t i = 1; i < 200; ++i) {
        const Block block = allocate(i * 100);
        std::memset(block.get(), t, i * 100);
        ASSERT_EQ(static_cast<int>(block[i * 100 - 1]), t);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Memory, OutOfMemoryIsAnErrorWithTheSize) {
  try {
    allocate(std::size_t{1} << 60);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1152921504606846976 bytes"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace attend
