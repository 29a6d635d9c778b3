// Fused attention: batch 1, 12 heads of size 64, forward and both, with and without a causal mask; small sizes; memory.
#include <string>

#include "attend/core/memory.h"
#include "attend/core/random.h"
#include "attend/ops/attention.h"
#include "attend/ops/tape.h"
#include "bench/job.h"

using namespace attend;

namespace {

Tensor random(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x, 0.f, 1.f);
  return x;
}

bench::Run forward(std::int64_t B, std::int64_t T, std::int64_t S, std::int64_t H, std::int64_t D, const Mask& mask) {
  const Tensor q = random({B, T, H, D}), k = random({B, S, H, D}), v = random({B, S, H, D});
  return [=] {
    NoGrad no_grad;
    attention(q, k, v, {.mask = mask});
  };
}

bench::Run both(std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t D, const Mask& mask) {
  Tensor q = random({B, T, H, D}), k = random({B, T, H, D}), v = random({B, T, H, D}), dy = random({B, T, H, D});
  require_grad(q), require_grad(k), require_grad(v);
  return [=] {
    for (const Tensor* leaf : {&q, &k, &v}) zero_grad(*leaf);
    backward(attention(q, k, v, {.mask = mask}), dy);
  };
}

/// Peak memory in MB of a forward and backward pass, without inputs, output and their gradients.
double extra_memory(std::int64_t T) {
  Tensor q = random({1, T, 12, 64}), k = random({1, T, 12, 64}), v = random({1, T, 12, 64});
  require_grad(q), require_grad(k), require_grad(v);
  const Tensor dy = random({1, T, 12, 64});
  reset_peak_memory();
  const std::size_t before = memory_use().current;
  backward(attention(q, k, v), dy);
  const std::size_t named = 4 * q.bytes();  // the output, and the gradients of q, k and v
  return (static_cast<double>(memory_use().peak - before) - static_cast<double>(named)) / (1 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::int64_t T : {256, 1024, 4096}) {
    for (const bool causal : {false, true}) {
      const Mask mask = causal ? Mask::causal() : Mask::none();
      std::string name = "attention.T";  // built with +=, because GCC 12 warns about operator+ here
      name += std::to_string(T);
      name += causal ? ".causal" : ".full";
      const double bar = causal ? 1.3 : 1.15;
      bench::job(name + ".forward", bar, [=] { return forward(1, T, T, 12, 64, mask); });
      bench::job(name + ".both", bar, [=] { return both(1, T, 12, 64, mask); });
    }
  }
  bench::job("attention.S4096.decode", 1.05, [] { return forward(1, 1, 4096, 12, 64, Mask::none()); });
  bench::job("attention.128x10x10.forward", 1.1, [] { return forward(128, 10, 10, 4, 64, Mask::none()); });
  bench::job("attention.128x10x10.both", 1.1, [] { return both(128, 10, 4, 64, Mask::none()); });
  bench::figure("attention.T16384.memory", "MB", 64, [] { return extra_memory(16384); });
  return bench::serve(argc, argv);
}
