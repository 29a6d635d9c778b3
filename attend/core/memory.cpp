#include "attend/core/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "attend/core/error.h"
#include "attend/core/sanitizer.h"

namespace attend {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kAlwaysKept = std::size_t{256} << 20;
constexpr bool kReuseBlocks = !ATTEND_ASAN;  // the address sanitizer only detects errors in freed blocks

/// Rounds a size up, by at most an eighth for large sizes, so that blocks of similar sizes can be reused.
std::size_t size_class(std::size_t bytes) {
  std::size_t step = kAlignment;
  while (step * 16 <= bytes) step *= 2;
  return bytes < kAlignment ? kAlignment : (bytes + step - 1) / step * step;
}

class Arena {
 public:
  std::byte* take(std::size_t size) {
    {
      std::lock_guard lock(mutex_);
      // A block that is up to 25% larger than needed is reused too.
      auto found = free_.lower_bound(size);
      if (found != free_.end() && found->first <= size + size / 4) {
        std::byte* block = found->second.back();
        const std::size_t block_size = found->first;
        count(block, block_size);  // first: if it throws, nothing has changed
        found->second.pop_back();
        if (found->second.empty()) free_.erase(found);
        use_.cached -= block_size;
        return block;
      }
      // Bounds the memory that is held by blocks of sizes that are no longer requested.
      if (use_.cached > use_.current + kAlwaysKept) release_locked();
    }
    std::byte* block = from_system(size);
    if (!block) release(), block = from_system(size);  // retry after freeing the cached blocks
    if (!block) fail("memory", "cannot allocate ", size, " bytes; use a smaller batch or a shorter input");
    try {
      std::lock_guard lock(mutex_);
      count(block, size);
    } catch (const std::bad_alloc&) {
      std::free(block);
      throw;
    }
    return block;
  }

  void give(std::byte* block) noexcept {
    std::lock_guard lock(mutex_);
    const auto entry = live_.find(block);
    const std::size_t size = entry->second;
    live_.erase(entry);
    use_.current -= size;
    if (kReuseBlocks && keep(block, size))
      use_.cached += size;
    else
      std::free(block);
  }

  MemoryUse use() {
    std::lock_guard lock(mutex_);
    return use_;
  }
  void reset_peak() {
    std::lock_guard lock(mutex_);
    use_.peak = use_.current;
  }
  void release() {
    std::lock_guard lock(mutex_);
    release_locked();
  }

 private:
  /// Adds a block to the free list; returns false if the list itself cannot grow.
  bool keep(std::byte* block, std::size_t size) noexcept {
    try {
      free_[size].push_back(block);
      return true;
    } catch (const std::bad_alloc&) {
      if (const auto entry = free_.find(size); entry != free_.end() && entry->second.empty()) free_.erase(entry);
      return false;
    }
  }
  /// Returns null if the system is out of memory.
  static std::byte* from_system(std::size_t size) {
    const bool huge = size >= kHugePage;
    const std::size_t alignment = huge ? kHugePage : kAlignment;
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* block = std::aligned_alloc(alignment, rounded);
    if (!block) return nullptr;
    if (huge) madvise(block, rounded, MADV_HUGEPAGE);  // fewer page faults; an error is harmless
    return static_cast<std::byte*>(block);
  }
  void count(std::byte* block, std::size_t size) {
    live_.emplace(block, size);
    use_.current += size;
    use_.peak = std::max(use_.peak, use_.current);
  }
  void release_locked() {
    for (auto& [size, blocks] : free_)
      for (std::byte* block : blocks) std::free(block);
    free_.clear();
    use_.cached = 0;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;
  std::unordered_map<std::byte*, std::size_t> live_;
  MemoryUse use_;
};

/// Never destroyed, because tensors in static variables may be freed after it.
Arena& arena() {
  static Arena* instance = new Arena;
  return *instance;
}

}  // namespace

Block allocate(std::size_t bytes) {
  std::byte* block = arena().take(size_class(bytes));
  return Block(block, [](std::byte* b) { arena().give(b); });
}

MemoryUse memory_use() { return arena().use(); }
void reset_peak_memory() { arena().reset_peak(); }
void release_cached_memory() { arena().release(); }

}  // namespace attend
