#include "attend/ops/tape.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <queue>
#include <unordered_set>

#include "attend/core/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/weight_gradient.h"

namespace attend {

/// Factors dy and x of the gradient dyᵀ x of a weight, collected over the steps of a loop.
struct Products {
  std::size_t output;                                   // index among the outputs of the weight's node
  std::vector<std::pair<Tensor, Tensor>> factors = {};  // dy, x
  std::int64_t rows = 0;
};

/// A recorded op, or a leaf, which has no function. It accumulates the gradients of its results.
struct Node {
  struct Edge {
    std::shared_ptr<Node> node;  // null: this input needs no gradient
    std::size_t output = 0;
    Tensor& grad() const { return node->grads[output]; }
    const Shape& shape() const { return node->shapes[output]; }
    bool operator==(const Edge&) const = default;
  };
  const char* op = "leaf";
  std::uint64_t sequence = 0;     // 0: a leaf
  std::vector<Shape> shapes;      // of the results
  std::vector<Tensor> grads;      // of the results
  std::vector<Edge> edges;        // to the inputs
  std::vector<Products> waiting;  // products to be added to the gradients of the results
  BackwardMany function;
  bool done = false;

  ~Node() { unlink(edges); }

  /// Frees a chain of nodes in a loop. Recursive destructors would overflow the stack after a long recurrence.
  static void unlink(std::vector<Edge>& edges) {
    std::vector<std::shared_ptr<Node>> pending;
    const auto take = [&](std::vector<Edge>& from) {
      for (Edge& edge : from)
        if (edge.node) pending.push_back(std::move(edge.node));
      from.clear();
    };
    take(edges);
    while (!pending.empty()) {
      const std::shared_ptr<Node> last = std::move(pending.back());
      pending.pop_back();
      if (last.use_count() == 1) take(last->edges);  // it is destroyed next; take its edges first
    }
  }
};

namespace {

thread_local bool recording_enabled = true;
std::atomic<std::uint64_t> next_sequence{1};

}  // namespace

bool recording() { return recording_enabled; }
NoGrad::NoGrad() : before_(recording_enabled) { recording_enabled = false; }
NoGrad::~NoGrad() { recording_enabled = before_; }

namespace {

/// Enables recording, which backward() disables.
class Recording {
 public:
  Recording() : before_(recording_enabled) { recording_enabled = true; }
  ~Recording() { recording_enabled = before_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  bool before_;
};

}  // namespace

void require_grad(Tensor& tensor) {
  if (!tensor.defined() || tensor.dtype() != DType::f32)
    fail("require_grad", "only float32 tensors have gradients: got ",
         tensor.defined() ? name_of(tensor.dtype()) : "nothing");
  if (tensor.node() && tensor.node()->sequence == 0) return;
  auto leaf = std::make_shared<Node>();
  leaf->shapes = {tensor.shape()};
  leaf->grads.resize(1);
  tensor.set_node(std::move(leaf), 0);
}

bool requires_grad(const Tensor& tensor) { return tensor.node() != nullptr; }

namespace {

Tensor& leaf_grad(const char* where, const Tensor& tensor) {
  if (!tensor.node() || tensor.node()->sequence != 0)
    fail(where, "only leaves have a gradient: call require_grad on the tensor before it is used");
  return tensor.node()->grads[0];
}

}  // namespace

Tensor grad(const Tensor& leaf) { return leaf_grad("grad", leaf); }

void set_grad(const Tensor& leaf, const Tensor& gradient) {
  Tensor& slot = leaf_grad("set_grad", leaf);
  if (const Shape& shape = leaf.node()->shapes[0];
      gradient.defined() && (gradient.shape() != shape || gradient.dtype() != DType::f32))
    fail("set_grad", "the gradient must have the shape of its tensor: got ", gradient.dtype(), " ", gradient.shape(),
         ", expected float32 ", shape);
  slot = gradient.detach();
}

void zero_grad(const Tensor& leaf) { leaf_grad("zero_grad", leaf) = Tensor(); }

bool needs_grad(std::initializer_list<const Tensor*> inputs) {
  if (!recording_enabled) return false;
  for (const Tensor* input : inputs)
    if (input->node()) return true;
  return false;
}

void record(const char* op, std::span<Tensor> results, const std::vector<Tensor>& inputs, BackwardMany backward) {
  if (!recording_enabled) return;
  auto node = std::make_shared<Node>();
  bool any = false;
  for (const Tensor& input : inputs) {
    node->edges.push_back({input.node(), static_cast<std::size_t>(input.node_output())});
    any |= input.node() != nullptr;
  }
  if (!any) return;
  node->op = op;
  node->sequence = next_sequence.fetch_add(1, std::memory_order_relaxed);
  node->function = std::move(backward);
  for (const Tensor& result : results) node->shapes.push_back(result.shape());
  node->grads.resize(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) results[i].set_node(node, static_cast<int>(i));
}

Tensor record(const char* op, Tensor y, const std::vector<Tensor>& inputs, BackwardOne backward) {
  record(op, std::span(&y, 1), inputs,
         [backward = std::move(backward)](std::span<const Tensor> dys, Grads& grads) { backward(dys[0], grads); });
  return y;
}

void record_again(std::span<Tensor> results, std::span<const Tensor> inputs,
                  std::function<std::vector<Tensor>()> again) {
  auto node = std::make_shared<Node>();
  for (const Tensor& input : inputs)
    node->edges.push_back({input.node(), static_cast<std::size_t>(input.node_output())});
  node->op = "recompute";
  node->sequence = next_sequence.fetch_add(1, std::memory_order_relaxed);
  node->function = [again = std::move(again)](std::span<const Tensor> dys, Grads& grads) {
    const Recording on;
    const std::vector<Tensor> results = again();
    for (std::size_t i = 0; i < results.size(); ++i)
      if (dys[i].defined()) grads.resume(results[i], dys[i]);
  };
  for (const Tensor& result : results) node->shapes.push_back(result.shape());
  node->grads.resize(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) results[i].set_node(node, static_cast<int>(i));
}

bool Grads::wants(std::size_t i) const {
  assert(i < node_.edges.size());
  return node_.edges[i].node != nullptr;
}

namespace {

/// Makes the accumulated gradient of a result writable. The first contribution is kept without a copy, so other tensors
/// may share its memory; then this copies it.
Tensor& writable(Tensor& slot) {
  if (!slot.sole_owner()) slot = slot.copy();
  return slot;
}

void accumulate(Tensor& slot, const Tensor& gradient, const Shape& shape) {
  if (slot.defined())
    kernels::add_to(slot.numel(), gradient.data(), writable(slot).data());
  else
    slot = gradient.detach().reshape(shape);
}

/// Factors are multiplied once they have this many rows. Waiting for more would need more memory and not be faster.
constexpr std::int64_t kManyRows = 4096;

/// Computes the products and adds them to the gradient.
void multiply(Node& node, Products& products) {
  const Shape& shape = node.shapes[products.output];
  Tensor& slot = node.grads[products.output];
  const bool add = slot.defined();
  if (add)
    writable(slot);
  else
    slot = Tensor::empty(shape);
  std::vector<kernels::BatchRows> pieces;
  for (const auto& [dy, x] : products.factors) pieces.push_back({x.rows(), dy.data(), x.data()});
  const std::int64_t n = products.factors.front().second.dim(-1);
  kernels::weight_gradient({.m = shape.numel() / n, .n = n, .accumulate = add}, pieces, slot.data());
  products.factors.clear();
  products.rows = 0;
}

void multiply_waiting(Node& node) {
  for (Products& products : node.waiting)
    if (!products.factors.empty()) multiply(node, products);
  node.waiting.clear();
}

}  // namespace

void Grads::product(std::size_t i, const Tensor& dy, const Tensor& x) {
  assert(wants(i));
  if (x.numel() == 0) return static_cast<void>(sum(i));
  const Node::Edge& edge = node_.edges[i];
  std::vector<Products>& waiting = edge.node->waiting;
  auto same = std::ranges::find(waiting, edge.output, &Products::output);
  const bool first = same == waiting.end();
  if (first) same = waiting.insert(same, {.output = edge.output});
  same->factors.emplace_back(dy, x);
  same->rows += x.rows();
  if (first || same->rows >= kManyRows)
    multiply(*edge.node, *same);  // from the second time on, collect: it may be a loop
}

bool Grads::repeated(std::size_t i) const {
  const auto end = node_.edges.begin() + static_cast<std::ptrdiff_t>(i);
  return std::find(node_.edges.begin(), end, *end) != end;
}

Grads::Target Grads::target(std::size_t i) {
  assert(wants(i));
  const Node::Edge& edge = node_.edges[i];
  Tensor& slot = repeated(i) ? late_.emplace_back(i, Tensor()).second : edge.grad();
  if (slot.defined()) return {writable(slot), true};
  slot = Tensor::empty(edge.shape());
  return {slot, false};
}

Tensor Grads::sum(std::size_t i) {
  const Target target = this->target(i);
  if (!target.accumulate) target.tensor.fill(0.f);
  return target.tensor;
}

void Grads::add(std::size_t i, const Tensor& gradient) {
  if (!wants(i)) return;
  const Node::Edge& edge = node_.edges[i];
  assert(gradient.numel() == edge.shape().numel());
  if (repeated(i))
    late_.emplace_back(i, gradient);
  else
    accumulate(edge.grad(), gradient, edge.shape());
}

void Grads::resume(const Tensor& result, const Tensor& dy) {
  const auto output = static_cast<std::size_t>(result.node_output());
  if (!result.node()) return;
  accumulate(result.node()->grads[output], dy, result.node()->shapes[output]);
  resumed_.push_back(result.node());
}

void Grads::add_repeated() {
  for (const auto& [i, gradient] : late_) accumulate(node_.edges[i].grad(), gradient, node_.edges[i].shape());
}

void backward(const Tensor& loss, const Tensor& seed) {
  if (!loss.node())
    fail("backward", "this tensor has no gradient history: require_grad was called on none of its inputs");
  if (!seed.defined() && loss.numel() != 1)
    fail("backward", "the loss must have one element: got ", loss.shape(), "; otherwise pass a seed of this shape");
  if (seed.defined() && (seed.shape() != loss.shape() || seed.dtype() != DType::f32))
    fail("backward", "the seed must have the shape of the loss: got ", seed.dtype(), " ", seed.shape(),
         ", expected float32 ", loss.shape());
  NoGrad no_grad;

  // The inputs of a node are recorded before it, so the reverse order of recording is a topological order.
  auto earlier = [](const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) {
    return a->sequence < b->sequence;
  };
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, decltype(earlier)> pending(earlier);
  std::unordered_set<const Node*> seen;
  std::vector<std::shared_ptr<Node>> leaves;
  auto reach = [&](const std::shared_ptr<Node>& node) {
    if (!seen.insert(node.get()).second) return;
    if (node->sequence == 0) return leaves.push_back(node);
    if (node->done) fail("backward", "the recording of [", node->op, "] was consumed by an earlier backward pass");
    pending.push(node);
  };

  const auto output = static_cast<std::size_t>(loss.node_output());
  accumulate(loss.node()->grads[output], seed.defined() ? seed : Tensor::full(loss.shape(), 1.f),
             loss.node()->shapes[output]);
  reach(loss.node());

  // Clears the waiting products of all leaves at the end, also after an exception.
  struct Forget {
    std::vector<std::shared_ptr<Node>>& leaves;
    ~Forget() {
      for (const std::shared_ptr<Node>& leaf : leaves) leaf->waiting.clear();
    }
  } const forget{leaves};
  while (!pending.empty()) {
    const std::shared_ptr<Node> node = pending.top();
    pending.pop();
    for (const Node::Edge& edge : node->edges)
      if (edge.node) reach(edge.node);
    multiply_waiting(*node);
    Grads grads(*node);
    node->function(node->grads, grads);
    grads.add_repeated();
    for (const std::shared_ptr<Node>& again : grads.resumed_) reach(again);
    node->done = true;
    seen.erase(node.get());  // a node that is recorded again may get its address
    node->function = nullptr;
    node->grads.assign(node->grads.size(), Tensor());
    Node::unlink(node->edges);
  }
  for (const std::shared_ptr<Node>& leaf : leaves) multiply_waiting(*leaf);
  // A gradient that was kept without a copy may share memory with that of another leaf, or with the seed. Make it
  // writable, because gradient clipping works in-place.
  for (const std::shared_ptr<Node>& leaf : leaves)
    if (Tensor& gradient = leaf->grads[0]; gradient.defined()) writable(gradient);
}

}  // namespace attend
