#include "attend/kernels/cpu.h"

#include <gtest/gtest.h>

namespace attend::kernels {
namespace {

TEST(Cpu, KernelsCanBeLimitedToPortableInstructions) {
  const std::string best = simd_instructions();
  use_portable_instructions(true);
  const std::string portable = simd_instructions();
  use_portable_instructions(false);
  EXPECT_EQ(simd_instructions(), best);
  if (best != portable) {
    EXPECT_EQ(best.substr(0, 3), "AVX") << portable;
  }
}

}  // namespace
}  // namespace attend::kernels
