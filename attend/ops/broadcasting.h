// Broadcasting of shapes, for the implementation of ops. The loops are in attend/kernels/broadcast.h.
#pragma once
#include "attend/core/shape.h"
#include "attend/core/tensor.h"
#include "attend/kernels/broadcast.h"

namespace attend {

/// The shape to which a and b broadcast. Throws [op] with both shapes if they are incompatible.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);
/// The sizes and strides for a loop over y that reads a and b, which must broadcast to y. Adjacent dimensions are
/// merged where possible: if all shapes are equal, one dimension is left.
kernels::Broadcast broadcast_over(const Shape& y, const Shape& a, const Shape& b);
/// target (+)= scale · gradient, summed over the dimensions in which `shape` was broadcast to `full`, the shape of the
/// gradient.
void sum_to_shape(const float* gradient, const Shape& full, const Shape& shape, float* target, kernels::Store store);

}  // namespace attend
