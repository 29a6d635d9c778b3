// A linear layer over few rows, as when a model decodes: weights are used as a file holds them, neither packed nor
// copied, and each is read from memory once, so that one row runs at the memory's speed and some dozens at the
// processor's. Many rows are better off with matmul.h, which sends what suits here.
#pragma once
#include <cstdint>

namespace attend::kernels {

/// y [m, n] (=|+=) x [m, k] · Wᵀ + bias, W [n, k], all row-major with the given distances between rows.
struct FewRows {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t x_stride = 0, w_stride = 0, y_stride = 0;
  bool accumulate = false;  ///< add to y instead of overwriting it
};

/// `bias` [n] may be null. An element's bits depend on its row of x, its row of W and the instruction set alone:
/// neither on the number of threads nor on the other rows. So a sentence alone decodes as it does in a batch.
void few_rows(const FewRows& shape, const float* x, const float* w, float* y, const float* bias);
/// The same with a byte a weight: row j of W is scale[j] · w[j]. Each row of x is rounded to 15 bits of its greatest
/// magnitude, which loses next to nothing beside the weights' 8, and whole numbers are multiplied.
void few_rows(const FewRows& shape, const float* x, const std::int8_t* w, const float* scale, float* y,
              const float* bias);

/// The most rows for which few_rows is as fast as a general product.
inline constexpr std::int64_t kFewRows = 64;

}  // namespace attend::kernels
