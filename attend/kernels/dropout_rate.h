// A dropout probability as the kernels use it: 16 random bits an element, so 1/65536 is the finest step.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace attend::kernels {

/// Elements are drawn in blocks of 64: block b uses the 8 counters from 8 b on.
constexpr std::size_t kDropoutBlockSize = 64;

struct DropoutRate {
  std::uint32_t threshold = 0;  ///< an element is dropped when its 16 bits are below
  float scale = 1.f;            ///< what the others are multiplied by: exactly 1 / (1 - threshold / 65536)

  DropoutRate() = default;
  explicit DropoutRate(float p)
      : threshold(static_cast<std::uint32_t>(std::lround(p * 65536.f))),
        scale(threshold < 65536 ? 65536.f / static_cast<float>(65536 - threshold) : 0.f) {}
};

}  // namespace attend::kernels
