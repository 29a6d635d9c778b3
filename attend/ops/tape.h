// Reverse-mode differentiation. Each op that sees a tensor with gradients records a Node: which results it made, which
// inputs they came from, and how to go back. backward(loss) walks the nodes from the newest to the oldest, once, and
// frees each as it goes.
//
//   require_grad(weight);
//   Tensor loss = …;
//   backward(loss);
//   grad(weight);            // [same shape as weight]
//
// What an op was given (ids and lengths too) must stay as it is until the pass is over: it is read again on the way
// back.
#pragma once
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Makes a leaf: its gradient is accumulated over backward passes until zero_grad. Only float32 has gradients.
void require_grad(Tensor& tensor);
bool requires_grad(const Tensor& tensor);

/// The accumulated gradient of a leaf, undefined before any backward pass reached it.
Tensor grad(const Tensor& leaf);
/// Replaces the leaf's gradient; an undefined tensor clears it.
void set_grad(const Tensor& leaf, const Tensor& gradient);
/// Lets the gradient go; its memory is the next pass's.
void zero_grad(const Tensor& leaf);

/// d(loss)/d(leaf) is added to the gradient of every leaf, in memory that is that leaf's alone. The loss has one
/// element, or `seed` of its shape is given. Consumes the recording: a second call throws.
void backward(const Tensor& loss, const Tensor& seed = {});

/// While one lives, this thread records nothing, and ops keep nothing for a backward pass.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool recording();

// ---- For the authors of ops ----

/// Whether an op on these inputs will be recorded: then it keeps what its backward pass needs.
bool needs_grad(std::initializer_list<const Tensor*> inputs);

/// Where a backward function puts the gradients of the op's inputs. Inputs are numbered as they were recorded. A tensor
/// may be several of them: the first of its numbers owns the buffer, what the others give is added after the call.
class Grads {
 public:
  /// Whether anybody waits for input i's gradient. Work for others can be skipped.
  bool wants(std::size_t i) const;

  /// A buffer in input i's shape, and whether it already holds a sum that must be added to (true) or is uninitialised
  /// and must be overwritten (false). At most once per input and backward call. For kernels that can do both at no
  /// cost. Only for inputs whose gradient somebody waits for.
  struct Target {
    Tensor tensor;
    bool accumulate;
  };
  Target target(std::size_t i);
  /// The same, but always to be added to: zeroed when it is new. For scatters.
  Tensor sum(std::size_t i);
  /// Adds dyᵀ x, the gradient of a weight [M, N] that made dy's rows from x's. The steps of an unrolled loop each give
  /// their few rows: from the second time that a pass meets a weight they wait until they are many, and are multiplied
  /// together. What target() gave for the same tensor must be written before.
  void product(std::size_t i, const Tensor& dy, const Tensor& x);
  /// Adds a finished gradient (same number of elements as the input); keeps it without a copy when it is the first.
  void add(std::size_t i, const Tensor& gradient);

 private:
  friend void backward(const Tensor&, const Tensor&);
  explicit Grads(Node& node) : node_(node) {}
  bool repeated(std::size_t i) const;
  void add_repeated();

  Node& node_;
  std::vector<std::pair<std::size_t, Tensor>> late_;  // what inputs that are an earlier one again were given
};

/// dys[i] is the gradient of result i, undefined when nothing depends on that result; at least one is defined.
using BackwardMany = std::function<void(std::span<const Tensor> dys, Grads& grads)>;
using BackwardOne = std::function<void(const Tensor& dy, Grads& grads)>;

/// Records an op. Inputs without gradients, or undefined (an absent bias), may be listed: their wants(i) is false.
/// Returns y as it was when nothing is to be recorded. The function must hold y (if it needs it) as y.detach(), or it
/// would own itself.
Tensor record(const char* op, Tensor y, const std::vector<Tensor>& inputs, BackwardOne backward);
/// The same for several results, in place.
void record(const char* op, std::span<Tensor> results, const std::vector<Tensor>& inputs, BackwardMany backward);

}  // namespace attend
