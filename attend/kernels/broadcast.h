// Element-wise loops with broadcasting, as in NumPy.
#pragma once
#include <array>
#include <cstdint>

namespace attend::kernels {

/// The sizes of y, which is contiguous, and the strides of both operands. A stride is 0 where an operand is broadcast.
/// The loops are fastest if the caller has merged adjacent dimensions (see attend/ops/broadcasting.h).
struct Broadcast {
  std::array<std::int64_t, 4> sizes{1, 1, 1, 1};
  std::array<std::int64_t, 4> a_strides{}, b_strides{};  ///< the last ones are 0 or 1

  /// Two operands of n elements each.
  static Broadcast same(std::int64_t n) { return {{1, 1, 1, n}, {0, 0, 0, 1}, {0, 0, 0, 1}}; }
};

/// How a result r is stored: y = scale · r, or y += scale · r if `accumulate`.
struct Store {
  float scale = 1.f;
  bool accumulate = false;
};

enum class Binary { add, sub, mul, div };
void binary(Binary op, const Broadcast& shape, const float* a, const float* b, float* y, Store store = {});

/// y = mask ? a : b. a and b have the shape of y; the mask has the strides b_strides of the Broadcast. If `values` is
/// null, the constant is used.
struct Choice {
  const float* values = nullptr;
  float constant = 0.f;
};
void select(const Broadcast& shape, const std::int8_t* mask, Choice a, Choice b, float* y, bool accumulate = false);

}  // namespace attend::kernels
