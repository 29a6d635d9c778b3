// Reverse-mode automatic differentiation. Each op with an input that requires a gradient records a Node with its
// inputs, its results and its backward function. backward(loss) visits the nodes once, from the newest to the oldest,
// and frees each of them afterwards.
//
//   require_grad(weight);
//   Tensor loss = …;
//   backward(loss);
//   grad(weight);            // [same shape as weight]
//
// Do not modify the inputs of an op, including ids and lengths, before the backward pass is done: it may read them.
#pragma once
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Makes a tensor a leaf. Backward passes add to its gradient until zero_grad is called. Throws unless it is float32.
void require_grad(Tensor& tensor);
bool requires_grad(const Tensor& tensor);

/// The accumulated gradient of a leaf; undefined if no backward pass has reached it.
Tensor grad(const Tensor& leaf);
/// Replaces the gradient of a leaf; an undefined tensor clears it.
void set_grad(const Tensor& leaf, const Tensor& gradient);
/// Clears the gradient of a leaf and releases its memory.
void zero_grad(const Tensor& leaf);

/// Adds d(loss)/d(leaf) to the gradient of every leaf. No other tensor shares the memory of these gradients. The loss
/// must have one element, unless a `seed` of its shape is given. The recording is freed, so a second call throws.
void backward(const Tensor& loss, const Tensor& seed = {});

/// Disables recording on this thread while the object lives. Ops then keep nothing for a backward pass.
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

// ---- For the implementation of ops ----

/// Whether an op on these inputs will be recorded, and so must keep what its backward pass needs.
bool needs_grad(std::initializer_list<const Tensor*> inputs);

/// Receives the gradients of an op's inputs from its backward function. Inputs are numbered as in record(). If one
/// tensor is used as several inputs, their gradients are added up.
class Grads {
 public:
  /// Whether input i needs a gradient. If not, the backward function can skip the work.
  bool wants(std::size_t i) const;

  /// A buffer with the shape of input i. If `accumulate` is true, it contains a sum to which the gradient must be
  /// added; otherwise it is uninitialised and must be overwritten. Call this at most once for each input, and only if
  /// wants(i).
  struct Target {
    Tensor tensor;
    bool accumulate;
  };
  Target target(std::size_t i);
  /// Like target(), but the gradient must always be added: a new buffer is filled with zeros.
  Tensor sum(std::size_t i);
  /// Adds dyᵀ x, the gradient of a weight [M, N], for dy [..., M] and x [..., N]. If a weight is used several times,
  /// for example in each step of an unrolled loop, the rows of several calls are collected and multiplied together. A
  /// buffer that target() returned for the same tensor must be filled before.
  void product(std::size_t i, const Tensor& dy, const Tensor& x);
  /// Adds a gradient with the same number of elements as the input. The first one is kept without a copy.
  void add(std::size_t i, const Tensor& gradient);
  /// Goes on with the ops that have computed `result`, whose gradient is dy.
  void resume(const Tensor& result, const Tensor& dy);

 private:
  friend void backward(const Tensor&, const Tensor&);
  explicit Grads(Node& node) : node_(node) {}
  bool repeated(std::size_t i) const;
  void add_repeated();

  Node& node_;
  std::vector<std::pair<std::size_t, Tensor>> late_;  // gradients of inputs that repeat an earlier input
  std::vector<std::shared_ptr<Node>> resumed_;        // of results that were computed again
};

/// dys[i] is the gradient of result i; undefined if the loss does not depend on it. At least one is defined.
using BackwardMany = std::function<void(std::span<const Tensor> dys, Grads& grads)>;
using BackwardOne = std::function<void(const Tensor& dy, Grads& grads)>;

/// Records an op with the result y, if an input needs a gradient; returns y. Inputs may be undefined, for example a
/// missing bias. If the backward function needs y, it must capture y.detach(), to avoid a reference cycle.
Tensor record(const char* op, Tensor y, const std::vector<Tensor>& inputs, BackwardOne backward);
/// Records an op with several results, and sets their nodes.
void record(const char* op, std::span<Tensor> results, const std::vector<Tensor>& inputs, BackwardMany backward);
/// Records results that were computed without recording. The backward pass calls `again`, which must compute the same
/// results with recording, and goes on with the ops that this records. Used by recompute().
void record_again(std::span<Tensor> results, std::span<const Tensor> inputs,
                  std::function<std::vector<Tensor>()> again);

}  // namespace attend
