#include "attend/attention/probe.h"

#include "attend/core/error.h"

namespace attend {

void Probe::record(const Tensor& weights) {
  if (weights.rank() != 3 && weights.rank() != 4)
    fail("probe", "wrong shape: got ", weights.shape(), ", expected [B, H, T, S] or [B, T, S]");
  const Tensor plain = weights.detach();
  records_.push_back({layer_, plain.rank() == 4 ? plain : plain.reshape(plain.shape().inserted(1, 1))});
}

}  // namespace attend
