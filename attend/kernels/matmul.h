// Matrix products on all threads, with oneDNN or own kernels. For small products inside a parallel loop, use
// gemm-inl.h.
#pragma once
#include <cstdint>
#include <span>

#include "attend/kernels/few_rows.h"

namespace attend::kernels {

/// C = op(A) op(B) (+ C) for each of `batch` matrices. op(A) is [m, k], op(B) is [k, n], C is [m, n], all row-major. A
/// transposed operand is stored as A [k, m] or B [n, k].
struct MatmulShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;   // add to C instead of overwriting it
  bool broadcast_b = false;  // one B for the whole batch
  // Row strides in elements; 0: contiguous rows. The matrices of a batch are rows · stride apart.
  std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
};

/// While a UniformRows exists, its thread computes all products with a transposed B by row_blocks(), those of 16-bit
/// and int8 weights too. Then a row has the same bits in a product of any number of rows.
class UniformRows {
 public:
  UniformRows();
  ~UniformRows();
  UniformRows(const UniformRows&) = delete;
  UniformRows& operator=(const UniformRows&) = delete;
  static bool active();

 private:
  bool before_;
};

/// `bias` [n], which is added to each row, may be null. oneDNN plans are cached for each calling thread and shape.
/// Products of up to a few hundred rows with a transposed B are computed by few_rows() and row_blocks(); then the bits
/// of a row do not depend on the other rows or the number of threads. For oneDNN, the last bits can depend on the
/// number of threads, because it may split k among them.
void matmul(const MatmulShape& shape, const float* a, const float* b, float* c, const float* bias = nullptr);

/// Several products C = A Bᵀ + bias with the same A [m, k].
template <class Weights>
void matmul(std::int64_t m, std::int64_t k, const float* a, std::span<const RowsPart<Weights>> parts) {
  if (m <= kFewRows && k > 0 && !UniformRows::active())
    return few_rows({.m = m, .k = k, .x_stride = k, .w_stride = k}, a, parts);
  for (const RowsPart<Weights>& part : parts)
    matmul({.m = m, .n = part.n, .k = k, .transpose_b = true, .c_stride = part.y_stride}, a, part.w, part.y, part.bias);
}

}  // namespace attend::kernels
