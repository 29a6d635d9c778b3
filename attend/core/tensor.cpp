#include "attend/core/tensor.h"

#include <algorithm>
#include <cstring>

#include "attend/core/error.h"
#include "attend/core/threads.h"

namespace attend {
namespace {

constexpr std::int64_t kGrain = 1 << 16;  // minimum number of elements for each thread

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.dtype_ = dtype;
  tensor.block_ = allocate(tensor.bytes());
  tensor.data_ = tensor.block_.get();
  return tensor;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor tensor = empty(shape, dtype);
  parallel_for(static_cast<std::int64_t>(tensor.bytes()), kGrain * 4, [&](std::int64_t begin, std::int64_t end) {
    std::memset(tensor.data_ + begin, 0, static_cast<std::size_t>(end - begin));
  });
  return tensor;
}

Tensor Tensor::full(const Shape& shape, float value) {
  Tensor tensor = empty(shape);
  tensor.fill(value);
  return tensor;
}

template <typename T>
Tensor Tensor::from(std::span<const T> values, const Shape& shape) {
  if (static_cast<std::int64_t>(values.size()) != shape.numel())
    fail("tensor", "the number of values does not match the shape: got ", values.size(), " values, expected ",
         shape.numel(), " for ", shape);
  Tensor tensor = empty(shape, dtype_of<T>);
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}
template Tensor Tensor::from(std::span<const float>, const Shape&);
template Tensor Tensor::from(std::span<const std::int32_t>, const Shape&);
template Tensor Tensor::from(std::span<const std::int8_t>, const Shape&);

Tensor Tensor::borrow(const std::byte* data, const Shape& shape, DType dtype, std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.dtype_ = dtype;
  tensor.borrowed_ = true;
  tensor.data_ = const_cast<std::byte*>(data);
  tensor.block_ = Block(tensor.data_, [owner = std::move(owner)](std::byte*) {});
  return tensor;
}

float Tensor::item() const {
  if (numel() != 1) fail("tensor", "item() needs a tensor with one element: got shape ", shape_);
  return *data();
}

Tensor Tensor::reshape(std::initializer_list<std::int64_t> dims) const {
  std::vector<std::int64_t> sizes(dims);
  if (const auto open = std::find(sizes.begin(), sizes.end(), -1); open != sizes.end()) {
    *open = 1;
    const std::int64_t known = Shape(sizes).numel();
    *open = known > 0 ? numel() / known : 0;
  }
  return reshape(Shape(sizes));
}

Tensor Tensor::reshape(const Shape& shape) const {
  if (shape.numel() != numel())
    fail("reshape", "the number of elements must not change: got ", shape_, " to reshape to ", shape);
  Tensor tensor = *this;
  tensor.shape_ = shape;
  return tensor;
}

Tensor Tensor::view_rows(std::int64_t begin, std::int64_t end) const {
  if (rank() == 0 || begin < 0 || end < begin || end > dim(0))
    fail("tensor", "no such rows: got [", begin, ", ", end, ") of shape ", shape_);
  Tensor tensor = detach();
  tensor.shape_ = shape_.with(0, end - begin);
  tensor.data_ += static_cast<std::size_t>(begin * shape_.without(0).numel()) * size_of(dtype_);
  return tensor;
}

Tensor Tensor::detach() const {
  Tensor tensor = *this;
  tensor.set_node(nullptr, 0);
  return tensor;
}

Tensor Tensor::copy() const {
  if (!defined()) return {};
  Tensor tensor = like(*this);
  parallel_for(static_cast<std::int64_t>(bytes()), kGrain * 4, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(tensor.data_ + begin, data_ + begin, static_cast<std::size_t>(end - begin));
  });
  return tensor;
}

void Tensor::fill(float value) const {
  float* values = data();
  parallel_for(numel(), kGrain,
               [=](std::int64_t begin, std::int64_t end) { std::fill(values + begin, values + end, value); });
}

void Tensor::no_elements(DType asked) const {
  if (!defined()) fail("tensor", "the tensor is undefined: expected elements of type ", asked);
  fail("tensor", "wrong element type: got ", dtype_, ", expected ", asked);
}

}  // namespace attend
