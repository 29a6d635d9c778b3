// Where tensors' bytes come from: 64-byte aligned blocks, kept for reuse when they are freed, and counted.
#pragma once
#include <cstddef>
#include <memory>

namespace attend {

/// A block from the arena; it returns there when the last owner lets go. Thread-safe.
using Block = std::shared_ptr<std::byte[]>;
/// Uninitialised. Throws Error naming the size when the system has no more.
Block allocate(std::size_t bytes);

/// Bytes in use by live blocks now, and the most there have been since the last reset.
struct MemoryUse {
  std::size_t current = 0;
  std::size_t peak = 0;
  std::size_t cached = 0;  ///< freed blocks that wait for reuse
};
MemoryUse memory_use();
void reset_peak_memory();
/// Gives the cached blocks back to the system.
void release_cached_memory();

}  // namespace attend
