// Attention of a decoding step: one query a row, over keys and values that earlier steps left where they were made.
// Nothing is gathered: a row finds each of its positions through a table.
#pragma once
#include <cstdint>
#include <span>

namespace attend::kernels {

/// Where the keys and values of one position are: those of the page's row r begin at first + r * row_stride.
struct CachedPosition {
  const float* first = nullptr;
  std::int64_t row_stride = 0;
};

/// Head h of q reads head h / (heads / kv_heads) of the keys and values.
struct CachedAttention {
  const float* q = nullptr;  ///< [rows, heads · head_dim], q_stride apart
  std::int64_t q_stride = 0;
  std::int64_t rows = 0, heads = 1;
  std::int64_t kv_heads = 1;  ///< must divide heads
  std::int64_t head_dim = 0;
  float scale = 1.f;
  std::span<const CachedPosition> positions;
  const std::int32_t* page_rows = nullptr;  ///< [rows, positions], page_rows_stride apart; negative: not to be seen
  std::int64_t page_rows_stride = 0;
  std::int64_t value_offset = 0;  ///< floats from a position's keys to its values
  /// Added to the scaled scores; may be null. Element (row, head, i) belongs to the i-th position that the row sees,
  /// and is at row * bias_row_stride + head * bias_head_stride + i.
  const float* bias = nullptr;
  std::int64_t bias_row_stride = 0, bias_head_stride = 0;
};

/// out[r, h] = Σ_t softmax_t(scale · q[r, h] · k_t + bias) v_t;  out [rows, heads · head_dim], out_stride apart. A row
/// that sees nothing gives zeros. weights [rows, heads, positions], the softmax itself, may be null. A row's bits
/// depend neither on the other rows nor on threads.
void cached_attention(const CachedAttention& problem, float* out, std::int64_t out_stride, float* weights);

}  // namespace attend::kernels
