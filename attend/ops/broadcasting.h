// Shapes that meet: right-aligned, a size of 1 repeats. For the authors of ops; the loops are in
// attend/kernels/broadcast.h.
#pragma once
#include "attend/core/shape.h"
#include "attend/core/tensor.h"
#include "attend/kernels/broadcast.h"

namespace attend {

/// The shape of f(a, b). Throws [op] with both shapes when they do not fit.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);
/// How a and b are read to fill y, neighbouring dimensions merged where they behave alike: two tensors of one shape are
/// one long row. Both must broadcast to y.
kernels::Broadcast broadcast_over(const Shape& y, const Shape& a, const Shape& b);
/// target (+)= scale · gradient, summed over the dimensions where `shape` repeats within `full`, the gradient's shape.
void sum_to_shape(const float* gradient, const Shape& full, const Shape& shape, float* target, kernels::Store store);

}  // namespace attend
