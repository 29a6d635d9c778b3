// The optimisers Adam and AdamW, with the same results as PyTorch's. A step is one pass over parameters, state and
// gradients. It skips parameters without a gradient. A parameter that is listed twice (tied weights) is updated once.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/core/tensor.h"
#include "attend/formats/safetensors.h"

namespace attend {

/// Selects the parameters that weight decay applies to. Null: all of them.
using Decays = std::function<bool(const std::string& name, const Tensor& parameter)>;
/// The usual choice for Transformers: weight decay for matrices, but not for biases and norms.
inline bool only_matrices(const std::string& /*name*/, const Tensor& parameter) { return parameter.rank() >= 2; }

/// Options of one step.
struct StepOptions {
  double rate_factor = 1.0;    ///< multiplies the learning rate: the value of a Schedule
  float gradient_scale = 1.f;  ///< multiplies every gradient: for clipping (see clip.h) and accumulation
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Updates every parameter that has a gradient. Does not clear the gradients: see zero_grad().
  virtual void step(const StepOptions& options = {}) = 0;

  void zero_grad() const;
  std::vector<Tensor> parameters() const;
  /// The state to save in a checkpoint. The names are "PARAMETER.exp_avg", "PARAMETER.exp_avg_sq" and "PARAMETER.step".
  /// The tensors share memory with the optimiser.
  std::vector<NamedTensor> state() const;
  /// Copies a saved state into the optimiser. Throws Error, without changing anything, if a tensor is missing or has
  /// another shape.
  void load_state(std::span<const NamedTensor> state);

 protected:
  struct Entry {
    std::string name;
    Tensor parameter;
    float weight_decay = 0.f;
    std::vector<NamedTensor> state;  ///< under the keys "exp_avg", …
  };
  /// Keeps the parameters that require gradients, without duplicates. Throws Error if one is borrowed from a mapped
  /// file, which is read-only.
  Optimizer(std::vector<NamedTensor> parameters, float weight_decay, const Decays& decays);

  std::vector<Entry> entries_;
};

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  float weight_decay = 0.f;
  bool decoupled =
      false;  ///< decoupled weight decay (AdamW): it is applied to the parameter, not added to the gradient
  Decays decays = nullptr;
};
/// Adam (Kingma & Ba 2015, algorithm 1).
class Adam : public Optimizer {
 public:
  Adam(std::vector<NamedTensor> parameters, const AdamOptions& options);
  void step(const StepOptions& options = {}) override;

 private:
  AdamOptions options_;
};

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  float weight_decay = 1e-2f;
  Decays decays = nullptr;
};
/// Adam with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2).
class AdamW : public Adam {
 public:
  AdamW(std::vector<NamedTensor> parameters, const AdamWOptions& o)
      : Adam(std::move(parameters),
             {o.learning_rate, o.beta1, o.beta2, o.eps, o.weight_decay, /*decoupled=*/true, o.decays}) {}
};

}  // namespace attend
