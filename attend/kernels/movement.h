// Loops that move elements: strided copies, gather and scatter of rows, and transposition. They use all threads.
// Backward functions add in a fixed order, so that results do not depend on the number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

namespace attend::kernels {

/// Copies `rows` rows of `bytes` bytes each. The row strides are in bytes.
void copy_rows(std::int64_t rows, std::int64_t bytes, const std::byte* from, std::int64_t from_stride, std::byte* to,
               std::int64_t to_stride);
/// Adds `rows` rows of `width` floats each. The row strides are in floats.
void add_rows(std::int64_t rows, std::int64_t width, const float* from, std::int64_t from_stride, float* to,
              std::int64_t to_stride);

/// Selects rows of x [outer, n, inner] along the middle dimension, by ids [outer, picks], or by ids [picks] for all
/// outer indices if `shared`.
struct RowPick {
  std::int64_t outer = 1, n = 1, inner = 1, picks = 1;
  const std::int32_t* ids = nullptr;  ///< each in [0, n)
  bool shared = true;
};
/// y[o, k] = scale · x[o, ids[o, k]].
void gather_rows(const RowPick& pick, const float* x, float* y, float scale = 1.f);
/// The backward pass of gather_rows: dx[o, ids[o, k]] += scale · dy[o, k], in the order of k. The id `skip` is ignored.
/// Unless `accumulate`, dx is first set to zero.
void scatter_rows(const RowPick& pick, const float* dy, float* dx, bool accumulate, float scale = 1.f,
                  std::int32_t skip = -1);

/// y[a, n, b, m, c] = x[a, m, b, n, c], for x of sizes [a, m, b, n, c].
struct Swap {
  std::int64_t a = 1, m = 1, b = 1, n = 1, c = 1;
};
void transpose(const Swap& swap, const float* x, float* y, bool accumulate = false);

}  // namespace attend::kernels
