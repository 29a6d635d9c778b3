// Attention over cached keys and values: one query for each row, which is a sequence in a decoding step, or a token of
// a prompt. The keys and values are not copied: a table gives the location of each position of a row.
#pragma once
#include <cstdint>
#include <span>

namespace attend::kernels {

/// The page that holds the keys and values of one position. Its row r begins at first + r * row_stride.
struct CachedPosition {
  const float* first = nullptr;
  std::int64_t row_stride = 0;
};

/// Head h of q uses head h / (heads / kv_heads) of the keys and values.
struct CachedAttention {
  const float* q = nullptr;  ///< [rows, heads · head_dim] with the row stride q_stride
  std::int64_t q_stride = 0;
  std::int64_t rows = 0, heads = 1;
  std::int64_t kv_heads = 1;  ///< must divide heads
  std::int64_t head_dim = 0;
  float scale = 1.f;
  float cap = 0.f;           ///< above 0: a scaled score s becomes cap · tanh(s / cap), before the bias
  std::int64_t window = -1;  ///< a row attends to its last window + 1 positions only; -1: to all
  std::span<const CachedPosition> positions;
  const std::int32_t* page_rows = nullptr;  ///< [rows, positions], row stride page_rows_stride; negative: masked
  std::int64_t page_rows_stride = 0;
  std::int64_t value_offset = 0;  ///< offset of the values of a position from its keys, in floats
  /// Added to the scaled scores; may be null. Element (row, head, i) is for the i-th position that the row attends to.
  /// Its offset is row * bias_row_stride + head * bias_head_stride + i.
  const float* bias = nullptr;
  std::int64_t bias_row_stride = 0, bias_head_stride = 0;
};

/// out[r, h] = Σ_t softmax_t(scale · q[r, h] · k_t + bias) v_t;  out [rows, heads · head_dim] with the row stride
/// out_stride. A row whose positions are all masked gives zeros. weights [rows, heads, positions] gets the softmax; may
/// be null. The bits of a row do not depend on the other rows, nor on the number of threads.
void cached_attention(const CachedAttention& problem, float* out, std::int64_t out_stride, float* weights);

}  // namespace attend::kernels
