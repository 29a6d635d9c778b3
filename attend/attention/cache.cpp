#include "attend/attention/cache.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "attend/core/error.h"
#include "attend/kernels/attention.h"
#include "attend/ops/check.h"

namespace attend {
namespace {

/// The number of heads and their size, for queries q [rows, H·D] and keys of width `kv_width` = KV·D. Throws if these
/// sizes are inconsistent.
struct HeadSizes {
  std::int64_t heads, kv_heads, head_dim;

  HeadSizes(const CachedHeads& how, const Tensor& q, std::int64_t rows, std::int64_t kv_width)
      : heads(how.heads), kv_heads(how.kv_heads == 0 ? how.heads : how.kv_heads), head_dim(0) {
    if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0 || kv_width % kv_heads != 0)
      fail("cache", "the heads do not fit: got ", how.heads, " heads and kv_heads ", how.kv_heads,
           " for keys of width ", kv_width);
    head_dim = kv_width / kv_heads;
    check_float("cache", "q", q);
    if (q.shape() != Shape{rows, heads * head_dim})
      fail("cache", "the queries do not fit: got ", q.shape(), ", expected ", Shape{rows, heads * head_dim});
  }
  std::int64_t width() const { return heads * head_dim; }
};

float scale_of(const CachedHeads& how, std::int64_t head_dim) {
  return how.scale.value_or(1.f / std::sqrt(static_cast<float>(head_dim)));
}

/// Attention of the queries over the keys and values of a problem, which has all but its queries and heads.
Tensor attend_to(kernels::CachedAttention problem, const Tensor& q, const CachedHeads& how) {
  const HeadSizes sizes(how, q, problem.rows, problem.value_offset);
  problem.q = q.data(), problem.q_stride = sizes.width();
  problem.heads = sizes.heads, problem.kv_heads = sizes.kv_heads, problem.head_dim = sizes.head_dim;
  problem.scale = scale_of(how, sizes.head_dim), problem.cap = how.cap, problem.window = how.window;
  Tensor out = Tensor::like(q), weights;
  if (how.probe) weights = Tensor::empty({problem.rows, sizes.heads, 1, std::ssize(problem.positions)});
  kernels::cached_attention(problem, out.data(), sizes.width(), how.probe ? weights.data() : nullptr);
  if (how.probe) how.probe->record(weights);
  return out;
}

}  // namespace

std::vector<std::int64_t> KeyValueCache::lengths() const {
  std::vector<std::int64_t> all;
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::int32_t* first = page_rows_.data() + row * capacity_;
    all.push_back(std::count_if(first, first + positions_, [](std::int32_t page_row) { return page_row >= 0; }));
  }
  return all;
}

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
    fail("cache", "wrong shape or layer of the keys and values: got ", keys_values.shape(), " for layer ", layer,
         " of ", layers_.size(), ", expected [N, T, 2·KV·D] or [N, 2·KV·D]");
  if (store_) return append_to_store(layer, keys_values);
  Layer& to = layers_[layer];
  const std::int64_t rows = keys_values.dim(0), T = rank == 3 ? keys_values.dim(1) : 1, row = keys_values.dim(-1);
  const auto before = static_cast<std::int64_t>(to.positions.size());
  const bool grows = before == positions_;  // this is the first layer that gets these positions
  if ((positions_ > 0 && rows != rows_) || (!grows && before + T != positions_) || (before > 0 && row != 2 * to.width))
    fail("cache", "the new keys and values do not fit: got ", keys_values.shape(), " for layer ", layer, ", which has ",
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

/// Position t of a sequence that starts at packed row r is in packed row t + r.
void KeyValueCache::set_packed(Layer& layer, const Tensor& keys_values) const {
  const std::int64_t row = keys_values.dim(1);
  layer.width = row / 2;
  layer.pages.push_back(keys_values.detach());
  for (std::int64_t t = 0; t < positions_; ++t) layer.positions.push_back({keys_values.data() + t * row, row});
}

void KeyValueCache::reserve(std::span<const std::int64_t> lengths, std::int64_t width) {
  if (rows_ > 0 || store_)
    fail("cache", "only an empty cache can be prepared for prompts: got one of ", rows_, " rows");
  Reading& reading = reading_.emplace(Reading{});
  std::int64_t total = 0;
  for (const std::int64_t length : lengths) reading.starts.push_back(std::exchange(total, total + length));
  grow_packed(lengths);
  for (Layer& layer : layers_) set_packed(layer, Tensor::empty({total, width}));
}

std::span<float> KeyValueCache::keys_values(std::size_t layer, const Part& part) {
  const std::int64_t first = reading_.value().starts.at(part.sequence) + part.first;
  return layers_[layer].pages.front().view_rows(first, first + part.count).span();
}

void KeyValueCache::read_next(std::vector<Part> parts) {
  if (parts.empty()) return reading_.reset();
  Reading& reading = reading_.value();
  reading.parts = std::move(parts);
  reading.rows = reading.positions = 0;
  for (const Part& part : reading.parts)
    reading.rows += part.count, reading.positions = std::max(reading.positions, part.first + part.count);
  reading.page_rows.assign(static_cast<std::size_t>(reading.rows * reading.positions), -1);
  std::int32_t* row = reading.page_rows.data();
  for (const Part& part : reading.parts) {
    const auto start = static_cast<std::int32_t>(reading.starts.at(part.sequence));
    for (std::int64_t t = part.first; t < part.first + part.count; ++t, row += reading.positions)
      std::fill_n(row, t + 1, start);
  }
}

Tensor KeyValueCache::begin_parts(std::size_t layer, const Tensor& q, const Tensor& keys_values_of_parts,
                                  const CachedHeads& how) {
  const Reading& reading = *reading_;
  if (how.bias.defined()) fail("cache", "prompts with a bias cannot be read in parts");
  if (layer >= layers_.size() || keys_values_of_parts.shape() != Shape{reading.rows, 2 * layers_[layer].width})
    fail("cache", "wrong keys and values of the parts: got ", keys_values_of_parts.shape(), " for layer ", layer,
         " of ", layers_.size(), ", expected ", reading.rows, " rows");
  const float* from = keys_values_of_parts.data();
  for (const Part& part : reading.parts) {
    const std::span<float> to = keys_values(layer, part);
    std::copy_n(from, to.size(), to.data());
    from += to.size();
  }
  const auto positions = static_cast<std::size_t>(reading.positions);
  return attend_to({.rows = reading.rows,
                    .positions = std::span(layers_[layer].positions).first(positions),
                    .page_rows = reading.page_rows.data(),
                    .page_rows_stride = reading.positions,
                    .value_offset = layers_[layer].width},
                   q, how);
}

Tensor KeyValueCache::begin(std::size_t layer, const Tensor& q, const Tensor& keys_values,
                            std::span<const std::int64_t> lengths, const CachedHeads& how) {
  check_float("cache", "keys and values", keys_values);
  const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  const std::int64_t row = keys_values.dim(-1);
  if (reading_) return begin_parts(layer, q, keys_values, how);
  if (layer >= layers_.size() || keys_values.shape() != Shape{total, row} || row % 2 != 0 ||
      !layers_[layer].positions.empty())
    fail("cache", "wrong keys and values for an empty layer: got ", keys_values.shape(), " for layer ", layer, " of ",
         layers_.size(), ", expected [", total, ", 2·KV·D] for a layer without keys and values");
  const HeadSizes sizes(how, q, total, row / 2);
  const std::int64_t longest = lengths.empty() ? 0 : std::ranges::max(lengths);
  if (how.bias.defined()) {
    check_float("cache", "bias", how.bias);
    if (how.bias.rank() != 4 || how.bias.dim(0) != 1 || how.bias.dim(1) != sizes.heads || how.bias.dim(2) < longest ||
        how.bias.dim(3) < longest)
      fail("cache", "the bias does not fit: got ", how.bias.shape(), ", expected at least ",
           Shape{1, sizes.heads, longest, longest});
  }
  if (positions_ == 0) grow_packed(lengths);
  if (rows_ != std::ssize(lengths) || (total > 0 && positions_ != longest))
    fail("cache", "layer ", layer, " must have the lengths of the other layers: got ", lengths.size(),
         " sequences, expected ", rows_, " of at most ", positions_, " positions");
  set_packed(layers_[layer], keys_values);

  std::vector<kernels::AttentionSegment> segments;
  for (std::int64_t before = 0; const std::int64_t length : lengths) {
    segments.push_back({before, length, before, length});
    before += length;
  }
  kernels::AttentionProblem problem;
  problem.q = q.data(), problem.k = keys_values.data(), problem.v = keys_values.data() + row / 2;
  problem.q_stride = sizes.width(), problem.k_stride = problem.v_stride = row;
  problem.heads = sizes.heads, problem.kv_heads = sizes.kv_heads;
  problem.head_dim = problem.value_dim = sizes.head_dim;
  problem.scale = scale_of(how, sizes.head_dim);
  problem.causal = true, problem.segments = segments;
  problem.cap = how.cap, problem.window = how.window;
  if (how.bias.defined()) problem.bias = {how.bias.data(), 0, how.bias.dim(2) * how.bias.dim(3), how.bias.dim(3)};
  Tensor out = Tensor::like(q);
  kernels::attention_forward(problem, out.data(), sizes.width(), nullptr);
  if (how.probe) {
    const Tensor weights = Tensor::empty({rows_, how.heads, positions_, positions_});
    kernels::attention_weights(problem, positions_, positions_, weights.data());
    how.probe->record(weights);
  }
  return out;
}

void KeyValueCache::select(std::span<const std::int64_t> rows) {
  if (positions_ == 0) return;  // the cache is empty
  if (store_) {
    std::vector<std::vector<std::int32_t>> chosen;
    for (const std::int64_t row : rows) chosen.push_back(store_->rows.at(static_cast<std::size_t>(row)));
    store_->rows = std::move(chosen);
    find_free_slots();
    return write_table();
  }
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

void KeyValueCache::join(const KeyValueCache& other) {
  if (other.store_ || other.layers_.size() != layers_.size())
    fail("cache", "cannot join this cache: got one of ", other.layers_.size(), " layers",
         other.store_ ? " that others have joined already" : "", ", expected ", layers_.size());
  if (other.rows_ == 0) return;
  if (rows_ == 0) {
    *this = other;
    return;
  }
  if (!store_) {
    const KeyValueCache before = std::exchange(*this, KeyValueCache(std::ssize(layers_)));
    store_.emplace().layers.resize(layers_.size());
    copy_into_store(before);
  }
  copy_into_store(other);
  write_table();
}

void KeyValueCache::copy_into_store(const KeyValueCache& other) {
  struct Copy {
    std::size_t position;
    std::int64_t page_row;
    std::int64_t slot;
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].width = other.layers_[i].width;
  std::vector<Copy> copies;
  std::map<std::pair<std::int64_t, std::int32_t>, std::int32_t> slots;  // shared positions stay shared
  for (std::int64_t row = 0; row < other.rows_; ++row) {
    std::vector<std::int32_t>& of_row = store_->rows.emplace_back();
    for (std::int64_t t = 0; t < other.positions_; ++t) {
      const std::int32_t page_row = other.page_rows_[static_cast<std::size_t>(row * other.capacity_ + t)];
      if (page_row < 0) continue;
      const auto [found, is_new] = slots.try_emplace({t, page_row}, -1);
      if (is_new) {
        found->second = allocate_slot();
        copies.push_back({static_cast<std::size_t>(t), page_row, found->second});
      }
      of_row.push_back(found->second);
    }
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::int64_t size = 2 * layers_[i].width;
    for (const Copy& copy : copies) {
      const kernels::CachedPosition& from = other.layers_[i].positions[copy.position];
      std::copy_n(from.first + copy.page_row * from.row_stride, size, store_->layers[i].data() + copy.slot * size);
    }
  }
}

std::int32_t KeyValueCache::allocate_slot() {
  Store& store = *store_;
  if (store.free.empty()) {
    const std::int64_t before = store.layers.front().defined() ? store.layers.front().dim(0) : 0;
    const std::int64_t after = std::max<std::int64_t>(2 * before, 256);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Tensor larger = Tensor::empty({after, 2 * layers_[i].width});
      if (before > 0) std::copy_n(store.layers[i].data(), store.layers[i].numel(), larger.data());
      store.layers[i] = std::move(larger);
    }
    for (std::int64_t slot = after; slot > before; --slot) store.free.push_back(static_cast<std::int32_t>(slot - 1));
  }
  const std::int32_t slot = store.free.back();
  store.free.pop_back();
  return slot;
}

void KeyValueCache::find_free_slots() {
  std::vector<bool> used(
      static_cast<std::size_t>(store_->layers.front().defined() ? store_->layers.front().dim(0) : 0));
  for (const std::vector<std::int32_t>& row : store_->rows)
    for (const std::int32_t slot : row) used[static_cast<std::size_t>(slot)] = true;
  store_->free.clear();
  for (std::size_t slot = used.size(); slot-- > 0;)
    if (!used[slot]) store_->free.push_back(static_cast<std::int32_t>(slot));
}

void KeyValueCache::write_table() {
  rows_ = std::ssize(store_->rows), positions_ = 0;
  for (const std::vector<std::int32_t>& row : store_->rows)
    positions_ = std::max<std::int64_t>(positions_, std::ssize(row));
  capacity_ = positions_;
  page_rows_.assign(static_cast<std::size_t>(rows_ * capacity_), -1);
  for (std::int64_t row = 0; row < rows_; ++row)
    std::ranges::copy(store_->rows[static_cast<std::size_t>(row)], page_rows_.begin() + row * capacity_);
}

void KeyValueCache::append_to_store(std::size_t layer, const Tensor& keys_values) {
  const std::int64_t size = 2 * layers_[layer].width;
  if (keys_values.shape() != Shape{rows_, size})
    fail("cache", "the new keys and values do not fit: got ", keys_values.shape(), " for layer ", layer, ", expected ",
         Shape{rows_, size});
  if (layer == 0) {
    for (std::vector<std::int32_t>& row : store_->rows) row.push_back(allocate_slot());
    write_table();
  }
  for (std::int64_t row = 0; row < rows_; ++row)
    std::copy_n(keys_values.data() + row * size, size,
                store_->layers[layer].data() + store_->rows[static_cast<std::size_t>(row)].back() * size);
}

Tensor KeyValueCache::attend(std::size_t layer, const Tensor& q, const CachedHeads& how) const {
  const Layer& from = layers_.at(layer);
  std::vector<kernels::CachedPosition> in_store;
  if (store_) in_store.assign(static_cast<std::size_t>(positions_), {store_->layers[layer].data(), 2 * from.width});
  kernels::CachedAttention problem{.rows = rows_,
                                   .positions = store_ ? in_store : from.positions,
                                   .page_rows = page_rows_.data(),
                                   .page_rows_stride = capacity_,
                                   .value_offset = from.width};
  if (const Tensor& bias = how.bias; bias.defined()) {
    check_float("cache", "bias", bias);
    const std::vector<std::int64_t> seen = lengths();
    const std::int64_t longest = seen.empty() ? 0 : std::ranges::max(seen);
    if (bias.rank() != 3 || (bias.dim(0) != rows_ && bias.dim(0) != 1) || bias.dim(1) != how.heads ||
        bias.dim(2) < longest)
      fail("cache", "the bias does not fit: got ", bias.shape(), ", expected at least ",
           Shape{rows_, how.heads, longest});
    problem.bias = bias.data();
    problem.bias_head_stride = bias.dim(2);
    problem.bias_row_stride = bias.dim(0) > 1 ? bias.dim(1) * bias.dim(2) : 0;
  }
  return attend_to(problem, q, how);
}

}  // namespace attend
