// Memory that a kernel needs while it runs, from the arena and counted there.
#pragma once
#include <cstdint>

#include "attend/core/memory.h"

namespace attend::kernels {

/// `count` floats, uninitialised and aligned for vectors.
struct Scratch {
  Block memory;
  float* data;

  explicit Scratch(std::int64_t count)
      : memory(allocate(static_cast<std::size_t>(count) * sizeof(float))),
        data(reinterpret_cast<float*>(memory.get())) {}
};

}  // namespace attend::kernels
