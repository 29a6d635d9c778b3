// The memory of tensors: a caching allocator of 64-byte aligned blocks, which also counts the bytes in use.
#pragma once
#include <cstddef>
#include <memory>

namespace attend {

/// A reference-counted block of memory. It returns to the allocator when the last reference is released. Thread-safe.
using Block = std::shared_ptr<std::byte[]>;
/// Allocates a block without initialising it. Throws Error, with the size, if the system is out of memory.
Block allocate(std::size_t bytes);

/// Bytes that the allocator has handed out or keeps.
struct MemoryUse {
  std::size_t current = 0;  ///< in use now
  std::size_t peak = 0;     ///< maximum of `current` since the last reset_peak_memory()
  std::size_t cached = 0;   ///< in free blocks that are kept for reuse
};
MemoryUse memory_use();
void reset_peak_memory();
/// Returns the cached blocks to the system.
void release_cached_memory();

}  // namespace attend
