// Optimisers: how parameters follow their gradients. Values are PyTorch's. A step is one pass over all parameters,
// state and gradients; parameters without a gradient are skipped, and one that is listed twice (tied weights) moves
// once.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/core/tensor.h"
#include "attend/formats/safetensors.h"

namespace attend {

/// Which parameters decay. Null: all of them.
using Decays = std::function<bool(const std::string& name, const Tensor& parameter)>;
/// The usual choice for Transformers: matrices decay, biases and norms do not.
inline bool only_matrices(const std::string& /*name*/, const Tensor& parameter) { return parameter.rank() >= 2; }

/// What one step is given beside the gradients.
struct StepOptions {
  double rate_factor = 1.0;    ///< the schedule's: multiplies the learning rate
  float gradient_scale = 1.f;  ///< multiplies every gradient: what clipping found, without a pass of its own
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Moves every parameter that has a gradient. The gradients stay: see zero_grad().
  virtual void step(const StepOptions& options = {}) = 0;

  void zero_grad() const;
  std::vector<Tensor> parameters() const;
  /// Everything that a resumed run needs, as "parameter.key" (exp_avg, exp_avg_sq, momentum_buffer, step). The tensors
  /// share memory with the optimiser.
  std::vector<NamedTensor> state() const;
  /// Copies a saved state. Throws when one is missing or has another shape; then nothing has changed.
  void load_state(std::span<const NamedTensor> state);

 protected:
  struct Entry {
    std::string name;
    Tensor parameter;
    float weight_decay = 0.f;
    std::vector<NamedTensor> state;  ///< by key; shapes as the optimiser made them
  };
  /// Keeps those that require gradients, each once. Throws when one is borrowed: its memory is not ours to change.
  Optimizer(std::vector<NamedTensor> parameters, float weight_decay, const Decays& decays);

  std::vector<Entry> entries_;
};

struct SgdOptions {
  double learning_rate = 1e-2;
  float momentum = 0.f;
  bool nesterov = false;
  float weight_decay = 0.f;
  Decays decays = nullptr;
};
class Sgd : public Optimizer {
 public:
  Sgd(std::vector<NamedTensor> parameters, const SgdOptions& options);
  void step(const StepOptions& options = {}) override;

 private:
  SgdOptions options_;
};

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  float weight_decay = 0.f;
  bool decoupled = false;  ///< AdamW (Loshchilov & Hutter 2019): decay shrinks the parameter, not through the moments
  Decays decays = nullptr;
};
/// Kingma & Ba 2015, algorithm 1.
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
class AdamW : public Adam {
 public:
  AdamW(std::vector<NamedTensor> parameters, const AdamWOptions& o)
      : Adam(std::move(parameters),
             {o.learning_rate, o.beta1, o.beta2, o.eps, o.weight_decay, /*decoupled=*/true, o.decays}) {}
};

}  // namespace attend
