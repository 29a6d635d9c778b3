#include "attend/train/word_dropout.h"

#include <algorithm>

#include "attend/core/random.h"

namespace attend {

void drop_words(const Tensor& ids, const Tensor& lengths, std::int32_t unknown, const std::vector<std::int32_t>& kept,
                float p) {
  const PhiloxKey key = default_generator().next();
  const std::int64_t T = ids.dim(1);
  for (std::int64_t b = 0; b < ids.dim(0); ++b)
    for (std::int64_t t = 0; t < lengths.data<std::int32_t>()[b]; ++t)
      if (std::int32_t& id = ids.data<std::int32_t>()[b * T + t];
          uniform_from(philox(key, static_cast<std::uint64_t>(b * T + t))[0]) < p && std::ranges::count(kept, id) == 0)
        id = unknown;
}

}  // namespace attend
