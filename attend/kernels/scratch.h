// Memory that a kernel needs while it runs, from the arena and counted there.
#pragma once
#include <cstdint>

#include "attend/core/memory.h"

namespace attend::kernels {

/// `count` floats, uninitialised and aligned for vectors. A copy shares the memory, and gives it away anew.
struct Scratch {
  Block memory;
  float* data;  ///< what Take has left

  explicit Scratch(std::int64_t count)
      : memory(allocate(static_cast<std::size_t>(count) * sizeof(float))),
        data(reinterpret_cast<float*>(memory.get())) {}

  /// A piece, aligned as well.
  float* Take(std::int64_t count) {
    float* piece = data;
    data += Size(count);
    return piece;
  }
  /// Floats that a piece takes.
  static std::int64_t Size(std::int64_t count) { return (count + 15) / 16 * 16; }
};

}  // namespace attend::kernels
