// Reads golden values: tests/golden/NAME.safetensors is written by tests/golden/NAME.py with PyTorch.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "attend/core/tensor.h"
#include "attend/formats/safetensors.h"

namespace attend::test {

inline SafetensorsFile golden(const std::string& name) {
  return SafetensorsFile(std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/golden" / (name + ".safetensors"));
}

/// |actual - expected| <= absolute + relative * |expected| for each element. Equal infinities are close; NaNs never
/// are.
struct Tolerance {
  float relative = 1e-5f;
  float absolute = 1e-6f;
};

/// Whether the shapes are equal and all elements are close. A failure names the number of wrong elements and the worst.
/// EXPECT_TRUE(close(y, golden("ops").get("softmax/0/out0")));
inline testing::AssertionResult close(const Tensor& actual, const Tensor& expected, Tolerance tolerance = {}) {
  if (!actual.defined() || !expected.defined()) return testing::AssertionFailure() << "a tensor is undefined";
  if (actual.shape() != expected.shape())
    return testing::AssertionFailure() << "got shape " << actual.shape() << ", expected " << expected.shape();
  std::int64_t wrong = 0, worst = 0;
  double worst_excess = 0;
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    const double got = actual.data()[i], want = expected.data()[i];
    if (got == want) continue;
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(want);
    const double excess = std::abs(got - want) / allowed;
    if (excess <= 1) continue;  // a NaN fails this
    ++wrong;
    if (!(excess <= worst_excess)) worst_excess = excess, worst = i;
  }
  if (wrong == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << wrong << " of " << expected.numel() << " elements of " << expected.shape()
                                     << " are off; the worst, element " << worst << ", is " << actual.data()[worst]
                                     << ", expected " << expected.data()[worst];
}

}  // namespace attend::test
