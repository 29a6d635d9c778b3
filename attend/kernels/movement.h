// Loops that move elements without computing: copies of parts, rows picked by index and put back, transposes. All of
// them use all threads, and the ways back add in a fixed order.
#pragma once
#include <cstddef>
#include <cstdint>

namespace attend::kernels {

/// Copies `rows` rows of `bytes` each between memories where rows are so many bytes apart.
void copy_rows(std::int64_t rows, std::int64_t bytes, const std::byte* from, std::int64_t from_stride, std::byte* to,
               std::int64_t to_stride);
/// The same for floats, added to what is there. Strides in floats.
void add_rows(std::int64_t rows, std::int64_t width, const float* from, std::int64_t from_stride, float* to,
              std::int64_t to_stride);

/// Rows picked from the middle of x [outer, n, inner] by ids [outer, picks], or by ids [picks] that all o share.
struct RowPick {
  std::int64_t outer = 1, n = 1, inner = 1, picks = 1;
  const std::int32_t* ids = nullptr;  ///< each in [0, n)
  bool shared = true;
};
/// y[o, k] = scale · x[o, ids[o, k]].
void gather_rows(const RowPick& pick, const float* x, float* y, float scale = 1.f);
/// The way back: dx[o, ids[o, k]] += scale · dy[o, k], in the order of k; rows with the id `skip` get nothing. Writes
/// only the rows that were picked, after zeroing everything when there is nothing yet to add to.
void scatter_rows(const RowPick& pick, const float* dy, float* dx, bool accumulate, float scale = 1.f,
                  std::int32_t skip = -1);

/// y[a, n, b, m, c] = x[a, m, b, n, c], the sizes being those of x.
struct Swap {
  std::int64_t a = 1, m = 1, b = 1, n = 1, c = 1;
};
void transpose(const Swap& swap, const float* x, float* y, bool accumulate = false);

}  // namespace attend::kernels
