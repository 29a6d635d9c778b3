// Weights in bfloat16 or float16, as files hold them. They are converted to float32 in registers, or block by block, so
// that products are those of the converted weights.
#pragma once
#include <cstdint>

#include "attend/kernels/few_rows.h"
#include "attend/kernels/matmul.h"

namespace attend::kernels {

/// The bits of 16-bit floating-point numbers.
struct HalfNumbers {
  const std::uint16_t* data = nullptr;
  bool bfloat16 = true;  ///< otherwise float16

  HalfNumbers operator+(std::int64_t offset) const { return {data + offset, bfloat16}; }
};

/// to[i] = from[i], n numbers, on all threads.
void widen(std::int64_t n, HalfNumbers from, float* to);

/// few_rows() with such weights: each is read from memory once.
void few_rows(const FewRows& shape, const float* x, HalfNumbers w, float* y, const float* bias);
/// Several products; all weights have the same format.
void few_rows(const FewRows& shape, const float* x, std::span<const RowsPart<HalfNumbers>> parts);

/// C = A Bᵀ (+ C) + bias as in matmul(), for one product with a transposed B [n, k] without gaps between its rows. For
/// many rows, blocks of B are converted first.
void matmul(const MatmulShape& shape, const float* a, HalfNumbers b, float* c, const float* bias = nullptr);

}  // namespace attend::kernels
