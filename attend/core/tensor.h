// The tensor: a handle on contiguous, row-major, reference-counted memory with a shape and a dtype. Copying a Tensor
// copies the handle. There are no strides: what needs a transpose is a flag of matmul, what needs heads is a row
// stride of the attention kernel. Gradients are the tape's business (attend/ops/tape.h).
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
  Tensor() = default;  ///< holds nothing: defined() is false

  static Tensor empty(const Shape& shape, DType dtype = DType::f32);  ///< uninitialised
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32);
  static Tensor full(const Shape& shape, float value);
  static Tensor scalar(float value) { return full({}, value); }
  /// Copies the values. Throws when their number does not fit the shape.
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
  /// Memory that somebody else owns (a mapped file): `owner` is kept until the last handle goes. Must be 4-byte aligned
  /// for 4-byte types. The tensor is to be read only.
  static Tensor borrow(const std::byte* data, const Shape& shape, DType dtype, std::shared_ptr<const void> owner);
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

  /// The elements. Handles share memory, so a const handle gives mutable elements, as a const std::span does.
  /// Throws when T is not the dtype, and when there are none because the tensor is undefined.
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
  /// The one element of a tensor that has just one.
  float item() const;
  std::vector<float> to_vector() const { return {data(), data() + numel()}; }

  /// The same elements under another shape; one size may be -1. Gradients flow through as they are.
  Tensor reshape(std::initializer_list<std::int64_t> dims) const;
  Tensor reshape(const Shape& shape) const;
  /// Rows [begin, end) of the first dimension, sharing memory. Not recorded on the tape: see slice() for that.
  Tensor view_rows(std::int64_t begin, std::int64_t end) const;
  /// The same elements without their history.
  Tensor detach() const;
  /// New memory with the same elements, without history. Of an undefined tensor, another one.
  Tensor copy() const;
  void fill(float value) const;

  bool shares_memory_with(const Tensor& other) const { return block_ == other.block_; }
  /// Whether the memory is somebody else's, and to be read only.
  bool borrowed() const { return borrowed_; }
  /// Whether no other handle sees these elements, so that writing them surprises nobody. Borrowed memory has its
  /// lender.
  bool sole_owner() const { return !borrowed_ && block_.use_count() == 1; }

  /// The tape's handle: which recorded operation made this tensor, and as which of its results.
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

}  // namespace attend
