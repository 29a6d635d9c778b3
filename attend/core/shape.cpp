#include "attend/core/shape.h"

#include <algorithm>
#include <ostream>
#include <vector>

#include "attend/core/error.h"

namespace attend {

Shape::Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  if (dims.size() > static_cast<std::size_t>(kMaxRank))
    fail("shape", "too many dimensions: got ", dims.size(), ", expected at most ", kMaxRank);
  constexpr std::int64_t kMost = std::int64_t{1} << 60;  // so that the number of bytes cannot overflow either
  std::int64_t product = 1;
  for (std::int64_t size : dims) {
    if (size < 0) fail("shape", "a size cannot be negative: got ", size);
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product) || product > kMost)
      fail("shape", "too many elements, at dimension size ", size);
    dims_[static_cast<std::size_t>(rank_++)] = size;
  }
}

std::int64_t Shape::numel() const {
  std::int64_t product = 1;
  for (std::int64_t size : *this) product *= size;
  return product;
}

int Shape::index(int dim) const {
  const int index = dim < 0 ? dim + rank_ : dim;
  if (index < 0 || index >= rank_) fail("shape", "no such dimension: got ", dim, " for ", *this);
  return index;
}

std::int64_t Shape::rows() const {
  std::int64_t product = 1;
  for (int i = 0; i + 1 < rank_; ++i) product *= dims_[static_cast<std::size_t>(i)];
  return product;
}

Shape Shape::with(int dim, std::int64_t size) const {
  std::vector<std::int64_t> dims(begin(), end());
  dims[static_cast<std::size_t>(index(dim))] = size;
  return Shape(dims);
}

Shape Shape::without(int dim) const {
  std::vector<std::int64_t> dims(begin(), end());
  dims.erase(dims.begin() + index(dim));
  return Shape(dims);
}

Shape Shape::inserted(int dim, std::int64_t size) const {
  std::vector<std::int64_t> dims(begin(), end());
  if (dim < 0 || dim > rank_) fail("shape", "cannot insert a dimension at ", dim, " into ", *this);
  dims.insert(dims.begin() + dim, size);
  return Shape(dims);
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int i = 0; i < shape.rank(); ++i) out << (i ? ", " : "") << shape[i];
  return out << ']';
}

}  // namespace attend
