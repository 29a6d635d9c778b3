// Activation checkpointing (Chen et al. 2016): parts of a network whose intermediate results are not kept for the
// backward pass, which computes them again.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Enables recomputation on this thread while the object lives: stacks of Transformer blocks then keep only the inputs
/// of their blocks (see models/block.h).
class Recompute {
 public:
  explicit Recompute(bool on = true);
  ~Recompute();
  Recompute(const Recompute&) = delete;
  Recompute& operator=(const Recompute&) = delete;

 private:
  bool before_;
};
/// Whether this thread is inside a Recompute scope and records.
bool recomputing();

/// f(), which may read tensors with gradients; `inputs` are those of them that are not leaves. f is called now without
/// recording, and again in the backward pass, with the same streams of random numbers. So dropout is the same, and the
/// gradients have the same bits as those of f().
std::vector<Tensor> recompute(std::span<const Tensor> inputs, std::function<std::vector<Tensor>()> f);

}  // namespace attend
