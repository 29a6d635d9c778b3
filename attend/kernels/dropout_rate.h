// A dropout probability in the form that the kernels use. Each element needs 16 random bits, so the resolution is
// 1/65536.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace attend::kernels {

/// Random bits are generated for blocks of 64 elements: block b uses the counters 8 b … 8 b + 7.
constexpr std::size_t kDropoutBlockSize = 64;

struct DropoutRate {
  std::uint32_t threshold = 0;  ///< an element is dropped if its 16 bits are below this
  float scale = 1.f;            ///< factor of the other elements: 1 / (1 - threshold / 65536)

  DropoutRate() = default;
  explicit DropoutRate(float p)
      : threshold(static_cast<std::uint32_t>(std::lround(p * 65536.f))),
        scale(threshold < 65536 ? 65536.f / static_cast<float>(65536 - threshold) : 0.f) {}
};

}  // namespace attend::kernels
