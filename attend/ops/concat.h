// Concatenation and splitting along a dimension. They also work for int32 and int8, without gradients.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Concatenates tensors along `dim`; their other sizes must be equal.
Tensor concat(std::span<const Tensor> parts, int dim);
inline Tensor concat(std::initializer_list<Tensor> parts, int dim) {
  return concat(std::span(parts.begin(), parts.size()), dim);
}
/// Splits a tensor along `dim` into parts of the given sizes, whose sum must be the size of the dimension.
std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, int dim);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<std::int64_t> sizes, int dim) {
  return split(x, std::span(sizes.begin(), sizes.size()), dim);
}
/// Splits a tensor into `count` equal parts. Throws if the size is not a multiple of `count`.
std::vector<Tensor> split(const Tensor& x, int count, int dim);
/// A copy of the elements [begin, end) along `dim`.
Tensor slice(const Tensor& x, int dim, std::int64_t begin, std::int64_t end);

}  // namespace attend
