// Element-wise loops over operands of different shapes: y = f(a, b) where a size of 1 repeats (right-aligned, as in
// NumPy).
#pragma once
#include <array>
#include <cstdint>

namespace attend::kernels {

/// How two operands meet. y is contiguous with these sizes; an operand's stride is 0 where it repeats. Neighbouring
/// dimensions that behave alike are best merged by whoever fills this in (see attend/ops/broadcasting.h).
struct Broadcast {
  std::array<std::int64_t, 4> sizes{1, 1, 1, 1};
  std::array<std::int64_t, 4> a_strides{}, b_strides{};  ///< the last ones are 0 or 1

  /// Two operands of n elements each.
  static Broadcast same(std::int64_t n) { return {{1, 1, 1, n}, {0, 0, 0, 1}, {0, 0, 0, 1}}; }
};

/// What becomes of a result r: y = scale · r, or y += scale · r.
struct Store {
  float scale = 1.f;
  bool accumulate = false;
};

enum class Binary { add, sub, mul, div };
void binary(Binary op, const Broadcast& shape, const float* a, const float* b, float* y, Store store = {});

/// y = mask ? a : b, with the mask as the operand "b" of the shape, and a and b as large as y. A null pointer stands
/// for the constant beside it.
struct Choice {
  const float* values = nullptr;
  float constant = 0.f;
};
void select(const Broadcast& shape, const std::int8_t* mask, Choice a, Choice b, float* y, bool accumulate = false);

}  // namespace attend::kernels
