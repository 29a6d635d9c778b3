// Matrix products of small blocks that fit in the cache, for use inside parallel loops: single-threaded, without
// allocation, for any sizes. For large matrices, use matmul.h.
//
//   Gemm         C[m×n] (=|+=) A[m×k] · B[k×n]        all row-major; "ld…" is the row stride in floats
//   GemmAt       C[m×n] (=|+=) Aᵀ · B, A [k×m]
//   …Packed      the same with B packed by Pack or PackTransposed: faster if B is used several times, or if the row
//                stride of B causes cache conflicts
//
// Each element of C is computed by multiply-adds over k in order, so its bits do not depend on m, n or the layout of B.
#if defined(ATTEND_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_GEMM_INL_H_
#undef ATTEND_KERNELS_GEMM_INL_H_
#else
#define ATTEND_KERNELS_GEMM_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#define ATTEND_UNROLL _Pragma("GCC unroll 8")

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "attend/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace gemm {
namespace hn = hwy::HWY_NAMESPACE;

using D = Floats;
using V = FloatVector;

constexpr std::int64_t kLanes = HWY_LANES(float);
// The tile of C that is kept in registers: 6 rows of 2 vectors (with 16 registers) or of 4 vectors (with 32).
constexpr int kRows = 6;
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kVectors = 4;
#else
constexpr int kVectors = 2;
#endif
constexpr std::int64_t kWidth = kVectors * kLanes;  // columns of a panel of B

// sum += A · B for one tile of M rows and N vectors. A(i, p) is at a[i * lda + p], or at a[p * lda + i] if transposed.
template <int M, int N, bool kTransposed>
HWY_INLINE void AddProducts(std::int64_t k, const float* HWY_RESTRICT a, std::int64_t lda, const float* HWY_RESTRICT b,
                            std::int64_t ldb, V (&sum)[M][N]) {
  const D d;
  const std::int64_t row = kTransposed ? 1 : lda;
  const std::int64_t step = kTransposed ? lda : 1;
  for (std::int64_t p = 0; p < k; ++p, a += step, b += ldb) {
    V bs[N];
    ATTEND_UNROLL for (int j = 0; j < N; ++j) bs[j] = hn::LoadU(d, b + j * kLanes);
    ATTEND_UNROLL for (int i = 0; i < M; ++i) {
      const V as = hn::Set(d, a[i * row]);
      ATTEND_UNROLL for (int j = 0; j < N; ++j) sum[i][j] = hn::MulAdd(as, bs[j], sum[i][j]);
    }
  }
}

// Computes one tile of C.
template <int M, int N, bool kTransposed>
HWY_INLINE void Tile(std::int64_t k, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                     float* HWY_RESTRICT c, std::int64_t ldc, bool accumulate) {
  const D d;
  V sum[M][N];  // in registers, because the loops over i and j are unrolled
  ATTEND_UNROLL for (int i = 0; i < M; ++i) {
    ATTEND_UNROLL for (int j = 0; j < N; ++j) {
      sum[i][j] = accumulate ? hn::LoadU(d, c + i * ldc + j * kLanes) : hn::Zero(d);
    }
  }
  AddProducts<M, N, kTransposed>(k, a, lda, b, ldb, sum);
  ATTEND_UNROLL for (int i = 0; i < M; ++i) {
    ATTEND_UNROLL for (int j = 0; j < N; ++j) hn::StoreU(sum[i][j], d, c + i * ldc + j * kLanes);
  }
}

// Computes all rows of a panel of N whole vectors.
template <int N, bool kTransposed>
HWY_NOINLINE void Rows(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                       std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  const std::int64_t row = kTransposed ? 1 : lda;
  std::int64_t i = 0;
  for (; i + kRows <= m; i += kRows)
    Tile<kRows, N, kTransposed>(k, a + i * row, lda, b, ldb, c + i * ldc, ldc, accumulate);
  a += i * row;
  c += i * ldc;
  switch (m - i) {
    case 5:
      return Tile<5, N, kTransposed>(k, a, lda, b, ldb, c, ldc, accumulate);
    case 4:
      return Tile<4, N, kTransposed>(k, a, lda, b, ldb, c, ldc, accumulate);
    case 3:
      return Tile<3, N, kTransposed>(k, a, lda, b, ldb, c, ldc, accumulate);
    case 2:
      return Tile<2, N, kTransposed>(k, a, lda, b, ldb, c, ldc, accumulate);
    case 1:
      return Tile<1, N, kTransposed>(k, a, lda, b, ldb, c, ldc, accumulate);
    default:
      return;
  }
}

// Computes all rows of a panel of 1 to kVectors whole vectors.
template <bool kTransposed>
void Vectors(std::int64_t vectors, std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, const float* b,
             std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  static_assert(kVectors <= 4);
  switch (vectors) {
    case 1:
      return Rows<1, kTransposed>(m, k, a, lda, b, ldb, c, ldc, accumulate);
    case 2:
      return Rows<2, kTransposed>(m, k, a, lda, b, ldb, c, ldc, accumulate);
    case 3:
      return Rows<std::min(3, kVectors), kTransposed>(m, k, a, lda, b, ldb, c, ldc, accumulate);
    case 4:
      return Rows<std::min(4, kVectors), kTransposed>(m, k, a, lda, b, ldb, c, ldc, accumulate);
    default:
      return;
  }
}

// Computes a panel whose last vector is incomplete: whole tiles are computed in a buffer, and `columns` of it are
// copied.
template <bool kTransposed>
void CutPanel(std::int64_t m, std::int64_t columns, std::int64_t k, const float* a, std::int64_t lda, const float* b,
              std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  const std::int64_t vectors = (columns + kLanes - 1) / kLanes;
  HWY_ALIGN float buffer[kRows * kWidth] = {};
  for (std::int64_t i = 0; i < m; i += kRows) {
    const std::int64_t rows = std::min<std::int64_t>(kRows, m - i);
    if (accumulate) {
      for (std::int64_t r = 0; r < rows; ++r) std::copy_n(c + (i + r) * ldc, columns, buffer + r * kWidth);
    }
    Vectors<kTransposed>(vectors, rows, k, a + i * (kTransposed ? 1 : lda), lda, b, ldb, buffer, kWidth, accumulate);
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(buffer + r * kWidth, columns, c + (i + r) * ldc);
  }
}

// For row-major B. The columns after the last whole vector are copied to a padded buffer, kPiece rows at a time.
template <bool kTransposed>
void RowMajor(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
              std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  const std::int64_t whole = n / kLanes * kLanes;
  std::int64_t j = 0;
  if (m == 1)  // a single row needs more independent sums to hide latencies
    for (; j + 8 * kLanes <= whole; j += 8 * kLanes)
      Tile<1, 8, kTransposed>(k, a, lda, b + j, ldb, c + j, ldc, accumulate);
  for (; j < whole; j += kWidth)
    Vectors<kTransposed>(std::min(kWidth, whole - j) / kLanes, m, k, a, lda, b + j, ldb, c + j, ldc, accumulate);
  if (whole == n) return;
  constexpr std::int64_t kPiece = 128;
  HWY_ALIGN float padded[kPiece * kLanes] = {};
  std::int64_t p = 0;
  do {
    const std::int64_t depth = std::min(kPiece, k - p);
    for (std::int64_t r = 0; r < depth; ++r) std::copy_n(b + (p + r) * ldb + whole, n - whole, padded + r * kLanes);
    CutPanel<kTransposed>(m, n - whole, depth, a + p * (kTransposed ? lda : 1), lda, padded, kLanes, c + whole, ldc,
                          accumulate || p > 0);
    p += depth;
  } while (p < k);
}

template <bool kTransposed>
void Packed(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* packed,
            std::int64_t packed_rows, float* c, std::int64_t ldc, bool accumulate) {
  for (std::int64_t j = 0; j < n; j += kWidth, packed += packed_rows * kWidth) {
    const std::int64_t columns = std::min(kWidth, n - j);
    if (columns % kLanes == 0)
      Vectors<kTransposed>(columns / kLanes, m, k, a, lda, packed, kWidth, c + j, ldc, accumulate);
    else
      CutPanel<kTransposed>(m, columns, k, a, lda, packed, kWidth, c + j, ldc, accumulate);
  }
}

HWY_INLINE void PrefetchRow(std::int64_t n, const float* row) {
  for (std::int64_t i = 0; i < n; i += 16) hwy::Prefetch(row + i);
}
// Prefetches a row that is some rows after row i. The hardware prefetcher does not handle rows that are far apart.
HWY_INLINE void PrefetchAhead(std::int64_t i, std::int64_t rows, std::int64_t n, const float* first,
                              std::int64_t stride) {
  constexpr std::int64_t kAhead = 16;
  PrefetchRow(n, first + std::min(i + kAhead, rows - 1) * stride);
}

HWY_INLINE void CopyVector(const float* HWY_RESTRICT from, float* HWY_RESTRICT to) {
  const D d;
  hn::StoreU(hn::LoadU(d, from), d, to);
}

// to[j, i] = from[i, j] for 4 × 4 floats, which every vector instruction set supports.
HWY_INLINE void Transpose4x4(const float* HWY_RESTRICT from, std::int64_t from_stride, float* HWY_RESTRICT to,
                             std::int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) to[j * to_stride + i] = from[i * from_stride + j];
#else
  const hn::FixedTag<float, 4> d4;
  const hn::FixedTag<double, 2> pairs;
  const auto r0 = hn::LoadU(d4, from), r1 = hn::LoadU(d4, from + from_stride);
  const auto r2 = hn::LoadU(d4, from + 2 * from_stride), r3 = hn::LoadU(d4, from + 3 * from_stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d4, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d4, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d4, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d4, r2, r3));
  hn::StoreU(hn::BitCast(d4, hn::InterleaveLower(pairs, low01, low23)), d4, to);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveUpper(pairs, low01, low23)), d4, to + to_stride);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveLower(pairs, high01, high23)), d4, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveUpper(pairs, high01, high23)), d4, to + 3 * to_stride);
#endif
}

}  // namespace gemm

/// Columns of a tile; a multiple of the vector length. Blocks whose width is a multiple of this are the most efficient.
inline constexpr std::int64_t kGemmWidth = gemm::kWidth;
/// Rows of a tile.
inline constexpr std::int64_t kGemmRows = gemm::kRows;

/// C[m×n] (=|+=) A[m×k] · B[k×n].
HWY_INLINE void Gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                     std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  gemm::RowMajor<false>(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

/// C[m×n] (=|+=) Aᵀ · B[k×n], A [k×m].
HWY_INLINE void GemmAt(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                       std::int64_t ldb, float* c, std::int64_t ldc, bool accumulate) {
  gemm::RowMajor<true>(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

/// The size of a packed B[k×n] in floats. It consists of panels of kGemmWidth columns, each row-major. The last panel
/// is padded with zeros.
HWY_INLINE std::int64_t PackedSize(std::int64_t k, std::int64_t n) {
  return (n + kGemmWidth - 1) / kGemmWidth * kGemmWidth * k;
}

/// packed = B[k×n].
HWY_INLINE void Pack(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, float* packed) {
  const std::int64_t whole = n / kGemmWidth * kGemmWidth;
  for (std::int64_t p = 0; p < k; ++p, packed += kGemmWidth) {  // in the order of memory
    const float* row = b + p * ldb;
    gemm::PrefetchAhead(p, k, n, b, ldb);
    for (std::int64_t j = 0; j < whole; j += kGemmWidth)
      for (std::int64_t i = 0; i < kGemmWidth; i += gemm::kLanes) gemm::CopyVector(row + j + i, packed + j * k + i);
    if (whole == n) continue;
    for (std::int64_t i = 0; i < kGemmWidth; ++i) packed[whole * k + i] = whole + i < n ? row[whole + i] : 0.f;
  }
}

/// packed = Wᵀ, W [n×k], for example a stored weight, or keys.
HWY_INLINE void PackTransposed(std::int64_t n, std::int64_t k, const float* w, std::int64_t ldw, float* packed) {
  for (std::int64_t j = 0; j < n; j += kGemmWidth, packed += k * kGemmWidth) {
    const float* panel = w + j * ldw;
    const std::int64_t columns = std::min(kGemmWidth, n - j);
    const std::int64_t whole = columns / gemm::kLanes * gemm::kLanes;
    for (std::int64_t p = 0; whole < kGemmWidth && p < k; ++p)
      for (std::int64_t i = whole; i < kGemmWidth; i += gemm::kLanes)
        hn::StoreU(hn::Zero(gemm::D()), gemm::D(), packed + p * kGemmWidth + i);
    std::int64_t i = 0;
    for (; i + 4 <= columns; i += 4) {
      for (std::int64_t r = 0; r < 4; ++r) gemm::PrefetchAhead(j + i + r, n, k, w, ldw);
      std::int64_t p = 0;
      for (; p + 4 <= k; p += 4) gemm::Transpose4x4(panel + i * ldw + p, ldw, packed + p * kGemmWidth + i, kGemmWidth);
      for (; p < k; ++p)
        for (std::int64_t r = 0; r < 4; ++r) packed[p * kGemmWidth + i + r] = panel[(i + r) * ldw + p];
    }
    for (; i < columns; ++i)
      for (std::int64_t p = 0; p < k; ++p) packed[p * kGemmWidth + i] = panel[i * ldw + p];
  }
}

/// C[m×n] (=|+=) A[m×k] · B, B [k×n] packed. n may include the zero padding of the last panel.
HWY_INLINE void GemmPacked(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                           const float* packed, float* c, std::int64_t ldc, bool accumulate) {
  gemm::Packed<false>(m, n, k, a, lda, packed, k, c, ldc, accumulate);
}
/// GemmPacked with the first k of packed_rows packed rows.
HWY_INLINE void GemmPackedTop(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                              const float* packed, std::int64_t packed_rows, float* c, std::int64_t ldc,
                              bool accumulate) {
  gemm::Packed<false>(m, n, k, a, lda, packed, packed_rows, c, ldc, accumulate);
}

/// C[m×n] (=|+=) Aᵀ · B, A [k×m], B [k×n] packed.
HWY_INLINE void GemmAtPacked(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                             const float* packed, float* c, std::int64_t ldc, bool accumulate) {
  gemm::Packed<true>(m, n, k, a, lda, packed, k, c, ldc, accumulate);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
