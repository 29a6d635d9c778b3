#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/embedding_bag.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/embedding_bag.h"
#include "attend/kernels/id_groups.h"
#include "attend/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr std::int64_t kGrain = 16384;  // floats for each thread

/// to += weights ∘ from; without weights, to += from.
HWY_INLINE void AddWeighted(std::int64_t n, const float* weights, const float* from, float* to) {
  ForVectors(n, [&](const auto& at) ATTEND_BODY {
    const FloatVector sum = at.Load(to), x = at.Load(from);
    at.Store(weights ? hn::MulAdd(at.Load(weights), x, sum) : hn::Add(sum, x), to);
  });
}

HWY_INLINE const float* WeightsOf(const EmbeddingBags& bags, std::int64_t word) {
  return bags.weights ? bags.weights + bags.positions[word] * bags.width : nullptr;
}

void Sum(const EmbeddingBags& bags, const float* table, float* y) {
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(bags.words * bags.width, 1));
  parallel_for(bags.bags, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      float* const sum = y + n * bags.width;
      std::fill_n(sum, bags.width, 0.f);
      for (std::int64_t word = n * bags.words; word < (n + 1) * bags.words; ++word)
        if (const std::int32_t id = bags.ids[word]; id >= 0)
          AddWeighted(bags.width, WeightsOf(bags, word), table + id * bags.width, sum);
    }
  });
}

void SumBackward(const EmbeddingBags& bags, const float* dy, float* dtable) {
  // Each task owns a group of ids, so that no two tasks write the same row.
  const std::int64_t work = bags.bags * bags.words * bags.width;
  const std::int64_t groups = id_groups(work, kGrain);
  parallel_tasks(groups, [&](std::int64_t group) {
    for (std::int64_t word = 0; word < bags.bags * bags.words; ++word)
      if (const std::int32_t id = bags.ids[word]; id >= 0 && (id & (groups - 1)) == group)
        AddWeighted(bags.width, WeightsOf(bags, word), dy + word / bags.words * bags.width, dtable + id * bags.width);
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Sum);
void embedding_bag(const EmbeddingBags& bags, const float* table, float* y) {
  HWY_DYNAMIC_DISPATCH(Sum)(bags, table, y);
}

HWY_EXPORT(SumBackward);
void embedding_bag_backward(const EmbeddingBags& bags, const float* dy, float* dtable) {
  HWY_DYNAMIC_DISPATCH(SumBackward)(bags, dy, dtable);
}

}  // namespace attend::kernels
#endif
