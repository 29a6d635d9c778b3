#include "attend/nn/feed_forward.h"

#include <vector>

#include "attend/ops/dropout.h"
#include "attend/ops/gated.h"

namespace attend {

FeedForward::FeedForward(const FeedForwardOptions& o, Generator& generator)
    : up(o.width, o.inner, o.bias, generator),
      down(o.inner, o.width, o.bias, generator),
      activation(o.activation),
      dropout(o.dropout) {
  if (!o.gated) return;
  gate = Linear(o.width, o.inner, o.bias, generator);
  if (!init::skipped()) place_neighbours(*this);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  const Tensor inner =
      gate.defined() ? gated(linear_together(x, std::vector{&gate, &up}), activation) : up(x, activation);
  return down(attend::dropout(inner, dropout));
}

void place_neighbours(FeedForward& network) {
  if (network.gate.defined()) place_together(std::vector{&network.gate, &network.up});
}

}  // namespace attend
