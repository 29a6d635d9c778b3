// Training steps of a Neural Turing Machine and a Differentiable Neural Computer on the copy task: forward, backward,
// clipping and an Adam step. The peer is turing_torch.py.
#include <memory>

#include "attend/core/random.h"
#include "attend/models/turing_machine.h"
#include "attend/ops/concat.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/tape.h"
#include "attend/train/clip.h"
#include "attend/train/optimizer.h"
#include "bench/job.h"

namespace {

using namespace attend;

/// Batches of 16 sequences with 41 steps: 20 vectors of 8 bits, a delimiter, 20 targets.
bench::Run step(const TuringMachineOptions& options) {
  const auto model = std::make_shared<TuringMachine>(options);
  train_parameters(*model);
  const auto optimizer = std::make_shared<Adam>(parameters(*model), AdamOptions{});
  const std::int64_t B = 16, T = 41;
  Tensor x = Tensor::empty({B, T, options.inputs});
  fill_uniform(x, 0.f, 1.f);
  Tensor target = Tensor::zeros({B * T * options.outputs}, DType::i32);
  for (std::int64_t i = 0; i < target.numel(); ++i) target.data<std::int32_t>()[i] = static_cast<std::int32_t>(i % 2);
  return [=] {
    const Tensor logits = (*model)(x).reshape({target.numel(), 1});
    backward(cross_entropy(concat({Tensor::zeros(logits.shape()), logits}, 1), target));
    optimizer->step({.gradient_scale = clip_scale(grad_norm(optimizer->parameters()), 10.0)});
    optimizer->zero_grad();
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("ntm.16x41.lstm100.128x20.step", 5,
             [] { return step({.inputs = 9, .outputs = 8, .memory = MachineMemory::ntm}); });
  bench::job("ntm.16x41.lstm100.128x20.4_heads.step", 5, [] {
    return step({.inputs = 9, .outputs = 8, .memory = MachineMemory::ntm, .read_heads = 4, .write_heads = 4});
  });
  bench::job("dnc.16x41.lstm100.64x20.step", 0,
             [] { return step({.inputs = 9, .outputs = 8, .memory = MachineMemory::dnc, .slots = 64}); });
  return bench::serve(argc, argv);
}
