#include "attend/text/word_cache.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

namespace attend {

std::uint64_t WordCache::hash_of(std::string_view word) {
  std::uint64_t hash = word.size() * 0x9E3779B97F4A7C15u;
  const auto mix = [&hash](std::uint64_t eight) {
    hash = (hash ^ eight) * 0xBF58476D1CE4E5B9u;
    hash ^= hash >> 32;
  };
  const char* at = word.data();
  std::size_t left = word.size();
  for (std::uint64_t eight; left >= 8; at += 8, left -= 8) {
    std::memcpy(&eight, at, 8);
    mix(eight);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, at, left);
  mix(rest);
  return hash;
}

void WordCache::clear() {
  std::ranges::fill(slots_, Slot{});
  words_.clear();
  pieces_.clear();
  used_ = 0;
}

WordCache& word_cache(std::uint64_t model) {
  struct Kept {
    std::uint64_t model;
    std::unique_ptr<WordCache> cache;
  };
  constexpr std::size_t kMost = 4;
  static thread_local std::vector<Kept> kept;  // most recently used first
  auto found = std::ranges::find(kept, model, &Kept::model);
  if (found == kept.end()) {
    if (kept.size() == kMost) kept.pop_back();
    kept.push_back({model, std::make_unique<WordCache>()});
    found = std::prev(kept.end());
  }
  std::rotate(kept.begin(), found, std::next(found));
  return *kept.front().cache;
}

std::uint64_t new_model_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace attend
