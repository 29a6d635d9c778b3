// The tensor: a handle to contiguous, row-major, reference-counted memory with a shape and a dtype. Copying a Tensor
// copies the handle, not the elements. There are no strides: matmul has flags for transposed inputs, and the attention
// kernel takes a row stride for heads. Gradients are computed by the tape (attend/ops/tape.h).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "attend/core/dtype.h"
#include "attend/core/memory.h"
#include "attend/core/shape.h"

namespace attend {

struct Node;  // one recorded operation; see attend/ops/tape.h

class Tensor {
 public:
  Tensor() = default;  ///< undefined: has no elements, and defined() is false

  static Tensor empty(const Shape& shape, DType dtype = DType::f32);  ///< uninitialised
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32);
  static Tensor full(const Shape& shape, float value);
  static Tensor scalar(float value) { return full({}, value); }
  /// Copies the values. Throws if their number does not match the shape.
  template <typename T>
  static Tensor from(std::span<const T> values, const Shape& shape);
  static Tensor from(std::initializer_list<float> values, const Shape& shape) {
    return from(std::span<const float>(values.begin(), values.size()), shape);
  }
  static Tensor from(const std::vector<float>& values, const Shape& shape) {
    return from(std::span<const float>(values), shape);
  }
  static Tensor ids(std::span<const std::int32_t> values, const Shape& shape) { return from(values, shape); }
  static Tensor ids(std::initializer_list<std::int32_t> values, const Shape& shape) {
    return from(std::span<const std::int32_t>(values.begin(), values.size()), shape);
  }
  /// A read-only tensor in memory that is owned elsewhere, for example in a mapped file. The tensor keeps `owner`
  /// alive. `data` must be aligned to 4 bytes for 4-byte types.
  static Tensor borrow(const std::byte* data, const Shape& shape, DType dtype, std::shared_ptr<const void> owner);
  /// An uninitialised tensor with the shape and dtype of another.
  static Tensor like(const Tensor& other) { return empty(other.shape(), other.dtype()); }

  bool defined() const { return block_ != nullptr; }
  explicit operator bool() const { return defined(); }
  const Shape& shape() const { return shape_; }
  std::int64_t dim(int i) const { return shape_[i]; }
  int rank() const { return shape_.rank(); }
  std::int64_t numel() const { return shape_.numel(); }
  std::int64_t rows() const { return shape_.rows(); }
  DType dtype() const { return dtype_; }
  std::size_t bytes() const { return static_cast<std::size_t>(numel()) * size_of(dtype_); }

  /// The elements. They are mutable even through a const Tensor, as with a const std::span, because a Tensor is only a
  /// handle. Throws if T does not match the dtype, or if the tensor is undefined.
  template <typename T = float>
  T* data() const {
    if (dtype_of<T> != dtype_ || !defined()) no_elements(dtype_of<T>);
    return reinterpret_cast<T*>(data_);
  }
  std::byte* raw() const { return data_; }
  template <typename T = float>
  std::span<T> span() const {
    return {data<T>(), static_cast<std::size_t>(numel())};
  }
  /// The value of a tensor that has exactly one element.
  float item() const;
  std::vector<float> to_vector() const { return {data(), data() + numel()}; }

  /// The same elements with another shape. One size may be -1 and is then inferred. Differentiable.
  Tensor reshape(std::initializer_list<std::int64_t> dims) const;
  Tensor reshape(const Shape& shape) const;
  /// Rows [begin, end) of the first dimension, without a copy. Not differentiable; see slice() for that.
  Tensor view_rows(std::int64_t begin, std::int64_t end) const;
  /// The same elements without the gradient history.
  Tensor detach() const;
  /// A copy of the elements in new memory, without the gradient history. The copy of an undefined tensor is undefined.
  Tensor copy() const;
  void fill(float value) const;

  bool shares_memory_with(const Tensor& other) const { return block_ == other.block_; }
  /// Whether the tensor was made by borrow(), and so is read-only.
  bool borrowed() const { return borrowed_; }
  /// Whether no other tensor shares these elements, so that they can be modified in-place. False for borrowed memory.
  bool sole_owner() const { return !borrowed_ && block_.use_count() == 1; }

  /// Used by the tape: the recorded operation that computed this tensor, and the index among its results.
  const std::shared_ptr<Node>& node() const { return node_; }
  int node_output() const { return node_output_; }
  void set_node(std::shared_ptr<Node> node, int output) { node_ = std::move(node), node_output_ = output; }

 private:
  [[noreturn]] void no_elements(DType asked) const;

  Shape shape_;
  DType dtype_ = DType::f32;
  bool borrowed_ = false;
  int node_output_ = 0;
  Block block_;
  std::byte* data_ = nullptr;
  std::shared_ptr<Node> node_;
};

/// The numbers of a tensor, or null if it is undefined.
inline float* data_or_null(const Tensor& tensor) { return tensor.defined() ? tensor.data() : nullptr; }

}  // namespace attend
