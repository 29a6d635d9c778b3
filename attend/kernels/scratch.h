// Temporary memory of a kernel, from the allocator of core/memory.h.
#pragma once
#include <cstdint>

#include "attend/core/memory.h"

namespace attend::kernels {

/// `count` uninitialised floats, aligned for vectors. A copy shares the memory, but has its own position for Take(), so
/// that it can be reused.
struct Scratch {
  Block memory;
  float* data;  ///< start of the remaining memory

  explicit Scratch(std::int64_t count)
      : memory(allocate(static_cast<std::size_t>(count) * sizeof(float))),
        data(reinterpret_cast<float*>(memory.get())) {}

  /// Returns the next `count` floats, aligned for vectors.
  float* Take(std::int64_t count) {
    float* piece = data;
    data += Size(count);
    return piece;
  }
  /// The number of floats that Take(count) uses.
  static std::int64_t Size(std::int64_t count) { return (count + 15) / 16 * 16; }
};

}  // namespace attend::kernels
