// Parts put together and taken apart along a dimension. int32 and int8 go too, without gradients.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// The parts one after the other; they differ in size along `dim` only.
Tensor concat(std::span<const Tensor> parts, int dim);
inline Tensor concat(std::initializer_list<Tensor> parts, int dim) {
  return concat(std::span(parts.begin(), parts.size()), dim);
}
/// Parts of these sizes, which add up to the dimension's.
std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, int dim);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<std::int64_t> sizes, int dim) {
  return split(x, std::span(sizes.begin(), sizes.size()), dim);
}
/// `count` equal parts. Throws when the size is no multiple.
std::vector<Tensor> split(const Tensor& x, int count, int dim);
/// [begin, end) along `dim`, copied.
Tensor slice(const Tensor& x, int dim, std::int64_t begin, std::int64_t end);

}  // namespace attend
