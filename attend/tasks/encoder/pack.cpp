#include "attend/tasks/encoder/pack.h"

namespace attend {

BertInput pack(const TokenBatch& batch, const Tensor& types) {
  std::vector<std::int32_t> ids, kinds;
  BertInput input;
  const std::int64_t T = batch.ids.dim(1);
  for (std::int64_t b = 0; b < batch.ids.dim(0); ++b) {
    const std::int64_t length = batch.lengths.data<std::int32_t>()[b];
    const auto take = [&](const Tensor& from, std::vector<std::int32_t>& to) {
      const std::int32_t* row = from.data<std::int32_t>() + b * T;
      to.insert(to.end(), row, row + length);
    };
    take(batch.ids, ids);
    if (types.defined()) take(types, kinds);
    input.lengths.push_back(length);
  }
  const auto N = static_cast<std::int64_t>(ids.size());
  input.ids = Tensor::ids(ids, {N});
  if (types.defined()) input.types = Tensor::ids(kinds, {N});
  return input;
}

}  // namespace attend
