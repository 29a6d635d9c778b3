#include "attend/attention/cache.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/core/error.h"
#include "attend/kernels/attention.h"
#include "attend/ops/check.h"

namespace attend {
namespace {

[[noreturn]] void misfit(const Tensor& q, std::int64_t rows, std::int64_t width) {
  fail("cache", "the queries do not fit: got ", q.shape(), ", expected ", Shape{rows, width});
}

std::int64_t head_size(std::int64_t width, std::int64_t heads) {
  if (heads < 1 || width % heads != 0)
    fail("cache", "the heads must divide the width: got ", heads, " heads and width ", width);
  return width / heads;
}

float scale_of(const CachedHeads& how, std::int64_t head_dim) {
  return how.scale.value_or(1.f / std::sqrt(static_cast<float>(head_dim)));
}

}  // namespace

void KeyValueCache::grow(std::int64_t rows, std::int64_t positions, const Tensor& lengths) {
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
  const bool grows = before == positions_;  // the first layer to get these positions
  if ((positions_ > 0 && rows != rows_) || (!grows && before + T != positions_) || (before > 0 && row != 2 * to.width))
    fail("cache", "what is to be added does not fit: got ", keys_values.shape(), " for layer ", layer, ", which has ",
         before, " positions of width ", to.width, ", in a cache of ", rows_, " rows and ", positions_, " positions");
  if (lengths.defined()) check_lengths("cache", lengths, rows, T);
  if (grows) grow(rows, T, lengths);
  to.width = row / 2;
  to.pages.push_back(keys_values.detach());
  for (std::int64_t t = 0; t < T; ++t) to.positions.push_back({keys_values.data() + t * row, T * row});
}

void KeyValueCache::grow_packed(std::span<const std::int64_t> lengths) {
  rows_ = static_cast<std::int64_t>(lengths.size());
  positions_ = capacity_ = lengths.empty() ? 0 : std::ranges::max(lengths);
  page_rows_.assign(static_cast<std::size_t>(rows_ * capacity_), -1);
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < rows_; ++i) {
    const std::int64_t length = lengths[static_cast<std::size_t>(i)];
    std::fill_n(page_rows_.data() + i * capacity_, length, static_cast<std::int32_t>(before));
    before += length;
  }
}

Tensor KeyValueCache::begin(std::size_t layer, const Tensor& q, const Tensor& keys_values,
                            std::span<const std::int64_t> lengths, const CachedHeads& how) {
  check_float("cache", "q", q);
  check_float("cache", "keys and values", keys_values);
  const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  const std::int64_t W = q.dim(-1), D = head_size(W, how.heads);
  if (q.shape() != Shape{total, W}) misfit(q, total, W);
  if (layer >= layers_.size() || keys_values.shape() != Shape{total, 2 * W} || !layers_[layer].positions.empty())
    fail("cache", "no beginning of a layer: got ", keys_values.shape(), " for layer ", layer, " of ", layers_.size(),
         ", expected ", Shape{total, 2 * W}, " for one that has nothing yet");
  if (positions_ == 0) grow_packed(lengths);
  if (rows_ != std::ssize(lengths) || (total > 0 && positions_ != std::ranges::max(lengths)))
    fail("cache", "layer ", layer, " does not begin as the others: got ", lengths.size(), " rows, expected ", rows_,
         " of ", positions_, " positions at most");
  Layer& to = layers_[layer];
  to.width = W;
  to.pages.push_back(keys_values.detach());
  // Position t of a row that begins behind r others is row t + r.
  for (std::int64_t t = 0; t < positions_; ++t) to.positions.push_back({keys_values.data() + t * 2 * W, 2 * W});

  std::vector<kernels::AttentionSegment> segments;
  for (std::int64_t before = 0; const std::int64_t length : lengths) {
    segments.push_back({before, length, before, length, 0});
    before += length;
  }
  kernels::AttentionProblem problem;
  problem.q = q.data(), problem.k = keys_values.data(), problem.v = keys_values.data() + W;
  problem.q_stride = W, problem.k_stride = problem.v_stride = 2 * W;
  problem.heads = how.heads, problem.head_dim = problem.value_dim = D;
  problem.scale = scale_of(how, D);
  problem.causal = true, problem.segments = segments;
  Tensor out = Tensor::like(q);
  kernels::attention_forward(problem, out.data(), W, nullptr);
  if (how.probe) {
    const Tensor weights = Tensor::empty({rows_, how.heads, positions_, positions_});
    kernels::attention_weights(problem, positions_, positions_, weights.data());
    how.probe->record(weights);
  }
  return out;
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

Tensor KeyValueCache::attend(std::size_t layer, const Tensor& q, const CachedHeads& how) const {
  check_float("cache", "q", q);
  const Layer& from = layers_.at(layer);
  const auto T = static_cast<std::int64_t>(from.positions.size());
  if (q.shape() != Shape{rows_, from.width}) misfit(q, rows_, from.width);
  const std::int64_t D = head_size(from.width, how.heads);
  Tensor out = Tensor::like(q);
  const Tensor weights = how.probe ? Tensor::empty({rows_, how.heads, 1, T}) : Tensor();
  kernels::cached_attention({.q = q.data(),
                             .q_stride = from.width,
                             .rows = rows_,
                             .heads = how.heads,
                             .head_dim = D,
                             .scale = scale_of(how, D),
                             .positions = from.positions,
                             .page_rows = page_rows_.data(),
                             .page_rows_stride = capacity_,
                             .value_offset = from.width},
                            out.data(), from.width, how.probe ? weights.data() : nullptr);
  if (how.probe) how.probe->record(weights);
  return out;
}

}  // namespace attend
