// Keys and values of prompts, kept for later prompts that begin with the same tokens: a conversation that goes on, or
// requests with one system message. They are kept in blocks of some tokens. Prompts with the same beginning share its
// blocks. When the memory is used up, the blocks that were not used for the longest time are dropped.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// The prefixes of one model. A copy is a handle on the same prefixes. Not safe for several threads at once, except
/// bytes().
class PrefixCache {
 public:
  static constexpr std::int64_t kBlock = 16;  ///< tokens of a block

  /// `bytes` is the limit of memory. `room`, if given, returns a limit for the present moment, such as the memory that
  /// others leave; the smaller of both counts.
  explicit PrefixCache(std::int64_t bytes, std::function<std::int64_t()> room = {});
  /// An empty cache for another model, or for the same with another adapter. Both together have one limit.
  PrefixCache for_another_model() const;

  /// The keys and values of the first tokens of a text, a tensor for each block, as add() stored them. `kind`
  /// distinguishes texts of which equal tokens have different keys. The blocks count as used now.
  std::vector<Tensor> find(std::span<const std::int32_t> text, std::int64_t kind = 0);
  /// How many tokens find() would find. They do not count as used.
  std::int64_t matching(std::span<const std::int32_t> text, std::int64_t kind = 0) const;
  /// Keeps the whole blocks of a text. make(first) returns the keys and values of the block that begins with this
  /// token; it is called for blocks that are not kept yet. Stops where the memory is used up.
  void add(std::span<const std::int32_t> text, const std::function<Tensor(std::int64_t first)>& make,
           std::int64_t kind = 0);
  /// Drops blocks until the limits are met.
  void trim();

  std::int64_t bytes() const;  ///< of the keys and values of all models that share the limit

 private:
  struct Pool;
  PrefixCache(std::shared_ptr<Pool> pool, std::int64_t model);
  std::shared_ptr<Pool> pool_;
  std::int64_t model_ = 0;
};

}  // namespace attend
