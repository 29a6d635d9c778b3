#include "attend/attention/probe.h"

#include "attend/core/error.h"

namespace attend {

void Probe::record(const Tensor& weights) {
  if (weights.rank() != 3 && weights.rank() != 4)
    fail("probe", "wrong shape: got ", weights.shape(), ", expected [B, H, T, S] or [B, T, S]");
  const Tensor plain = weights.detach();
  Record record{layer_, plain.rank() == 4 ? plain : plain.reshape(plain.shape().inserted(1, 1))};
  if (take_)
    take_(record);
  else
    records_.push_back(std::move(record));
}

}  // namespace attend
