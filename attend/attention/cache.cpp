#include "attend/attention/cache.h"

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/ops/check.h"

namespace attend {

void KeyValueCache::grow(std::int64_t rows, std::int64_t positions, const Tensor& lengths) {
  if (positions_ > 0 && rows != rows_) fail("cache", "the rows do not fit: got ", rows, ", expected ", rows_);
  if (lengths.defined()) check_lengths("cache", lengths, rows, positions);
  const std::int64_t total = positions_ + positions;
  if (total > capacity_ || rows != rows_) {
    const std::int64_t capacity = std::max(total, 2 * capacity_);
    std::vector<std::int32_t> wider(static_cast<std::size_t>(rows * capacity));
    for (std::int64_t i = 0; positions_ > 0 && i < rows; ++i)
      std::copy_n(page_rows_.data() + i * capacity_, positions_, wider.data() + i * capacity);
    page_rows_ = std::move(wider), capacity_ = capacity, rows_ = rows;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t seen = lengths.defined() ? lengths.data<std::int32_t>()[i] : positions;
    std::int32_t* first = page_rows_.data() + i * capacity_ + positions_;
    std::fill_n(first, seen, static_cast<std::int32_t>(i));
    std::fill_n(first + seen, positions - seen, -1);
  }
  positions_ = total;
}

void KeyValueCache::append(std::size_t layer, const Tensor& keys_values, const Tensor& lengths) {
  check_float("cache", "keys and values", keys_values);
  const int rank = keys_values.rank();
  if (layer >= layers_.size() || (rank != 2 && rank != 3) || keys_values.dim(-1) % 2 != 0)
    fail("cache", "no keys and values of a layer: got ", keys_values.shape(), " for layer ", layer, " of ",
         layers_.size(), ", expected [N, T, 2 W] or [N, 2 W]");
  Layer& to = layers_[layer];
  const std::int64_t rows = keys_values.dim(0), T = rank == 3 ? keys_values.dim(1) : 1, row = keys_values.dim(-1);
  const auto before = static_cast<std::int64_t>(to.positions.size());
  if (before == positions_) grow(rows, T, lengths);
  if (rows != rows_ || before + T != positions_ || (before > 0 && row != 2 * to.width))
    fail("cache", "layer ", layer, " does not go with the others: got ", keys_values.shape(), " after ", before,
         " positions, expected ", rows_, " rows and ", positions_, " positions in all");
  to.width = row / 2;
  to.pages.push_back(keys_values.detach());
  for (std::int64_t t = 0; t < T; ++t) to.positions.push_back({keys_values.data() + t * row, T * row});
}

void KeyValueCache::select(std::span<const std::int64_t> rows) {
  if (positions_ == 0) return;  // there are no rows yet
  std::vector<std::int32_t> chosen(rows.size() * static_cast<std::size_t>(capacity_));
  auto* to = chosen.data();
  for (const std::int64_t row : rows) {
    if (row < 0 || row >= rows_) fail("cache", "no such row: got ", row, ", expected 0 to ", rows_ - 1);
    std::copy_n(page_rows_.data() + row * capacity_, positions_, to);
    to += capacity_;
  }
  page_rows_ = std::move(chosen);
  rows_ = static_cast<std::int64_t>(rows.size());
}

Tensor KeyValueCache::attend(std::size_t layer, const Tensor& q, std::int64_t heads, Probe* probe) const {
  check_float("cache", "q", q);
  const Layer& from = layers_.at(layer);
  const auto T = static_cast<std::int64_t>(from.positions.size());
  if (q.shape() != Shape{rows_, from.width} || heads < 1 || from.width % heads != 0)
    fail("cache", "the queries do not fit: got ", q.shape(), " and ", heads, " heads, expected ",
         Shape{rows_, from.width}, " and heads that divide the width");
  const std::int64_t D = from.width / heads;
  Tensor out = Tensor::like(q);
  const Tensor weights = probe ? Tensor::empty({rows_, heads, 1, T}) : Tensor();
  kernels::cached_attention({.q = q.data(),
                             .q_stride = from.width,
                             .rows = rows_,
                             .heads = heads,
                             .head_dim = D,
                             .scale = 1.f / std::sqrt(static_cast<float>(D)),
                             .positions = from.positions,
                             .page_rows = page_rows_.data(),
                             .page_rows_stride = capacity_,
                             .value_offset = from.width},
                            out.data(), from.width, probe ? weights.data() : nullptr);
  if (probe) probe->record(weights);
  return out;
}

}  // namespace attend
