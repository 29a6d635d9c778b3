// Whole matrix products on all threads, through oneDNN. Small products inside a parallel loop are gemm-inl.h's.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// C = op(A) op(B) (+ C) for each of `batch` matrices. op(A) is [m, k], op(B) [k, n], C [m, n], all row-major; a
/// transposed operand is stored the other way round, A as [k, m], B as [n, k].
struct MatmulShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;   // add to C instead of overwriting it
  bool broadcast_b = false;  // one B for the whole batch
  // Elements between stored rows; 0 when the rows are dense. Matrices of a batch lie rows · stride apart.
  std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
};

/// `bias` [n], added to each row, may be null. Plans are kept per calling thread, so that a shape seen before costs no
/// set-up. Some hundred rows or fewer times a transposed B go to few_rows and row_blocks, where a row's bits depend on
/// no other row and on no thread. Elsewhere results can differ in the last bits with the number of threads: oneDNN may
/// divide k among them.
void matmul(const MatmulShape& shape, const float* a, const float* b, float* c, const float* bias = nullptr);

}  // namespace attend::kernels
