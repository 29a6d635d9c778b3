#include "attend/data/batches.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "attend/core/error.h"

namespace attend {
namespace {

/// A random number in [0, bound). The bias of the remainder is negligible, since 64 bits are far more than any bound.
std::int64_t bounded(PhiloxKey key, std::uint64_t counter, std::int64_t bound) {
  const auto bits = philox(key, counter);
  const std::uint64_t number = static_cast<std::uint64_t>(bits[0]) << 32 | bits[1];
  return static_cast<std::int64_t>(number % static_cast<std::uint64_t>(bound));
}

/// The random streams of an epoch: one shuffles its sequences, the other its batches.
PhiloxKey stream(const BatchPosition& position, bool batches) {
  return {position.seed, 2 * static_cast<std::uint64_t>(position.epoch) + (batches ? 1 : 0)};
}

TokenBatch empty_batch(std::int64_t B, std::int64_t T) {
  return {Tensor::empty({B, T}, DType::i32), Tensor::empty({B}, DType::i32), 0};
}

}  // namespace

std::vector<std::int64_t> shuffled(std::int64_t count, PhiloxKey key) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(bounded(key, i, static_cast<std::int64_t>(i)))]);
  return order;
}

BatchSampler::BatchSampler(std::vector<std::int32_t> lengths, const BatchOptions& options)
    : BatchSampler(options, std::move(lengths), {}) {}

BatchSampler BatchSampler::pairs(std::vector<std::int32_t> sources, std::vector<std::int32_t> targets,
                                 const BatchOptions& options) {
  if (sources.size() != targets.size())
    fail("batches", "pairs need two sides: got ", sources.size(), " sources and ", targets.size(), " targets");
  return {options, std::move(sources), std::move(targets)};
}

BatchSampler::BatchSampler(const BatchOptions& options, std::vector<std::int32_t> sources,
                           std::vector<std::int32_t> targets)
    : sources_(std::move(sources)), targets_(std::move(targets)), options_(options), position_{.seed = options.seed} {
  if (sources_.empty()) fail<InputError>("batches", "there is nothing to batch: got 0 sequences");
  if (options.max_tokens < 1 || options.max_sequences < 0 || options.pool < 0)
    fail<InputError>("batches", "expected max_tokens >= 1, max_sequences >= 0 and pool >= 0: got max_tokens ",
                     options.max_tokens, ", max_sequences ", options.max_sequences, " and pool ", options.pool);
  for (std::int64_t i = 0; i < sequences(); ++i)
    if (options.too_long == TooLong::error && longer(i) > options.max_tokens)
      fail<InputError>("batches", "sequence ", i, " does not fit: got ", longer(i), " tokens, expected at most ",
                       options.max_tokens, "; allow larger batches, or shorten it");
  plan();
}

std::int64_t BatchSampler::longer(std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i);
  return targets_.empty() ? sources_[at] : std::max(sources_[at], targets_[at]);
}

void BatchSampler::plan() {
  const std::int64_t count = sequences();
  order_ = ordered(count, stream(position_, false));

  // Sort by the longer side first, since it determines the padded size of a batch.
  const auto by_length = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return std::tuple(longer(i), sources_[at], targets_.empty() ? 0 : targets_[at]);
  };
  const auto total = static_cast<std::size_t>(count);
  const std::size_t pool = options_.shuffle && options_.pool > 0 ? static_cast<std::size_t>(options_.pool) : total;
  starts_.clear();
  for (std::size_t begin = 0; begin < total; begin += pool) {
    const std::size_t end = std::min(begin + pool, total);
    std::ranges::stable_sort(std::span(order_).subspan(begin, end - begin), {}, by_length);
    std::int64_t inside = 0;  // sequences in the current batch
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t tokens = (inside + 1) * std::max<std::int64_t>(longer(order_[i]), 1);  // sorted: the longest
      const bool full = tokens > options_.max_tokens || inside == options_.max_sequences;
      if (i == begin || (full && inside > 0)) starts_.push_back(i), inside = 0;
      ++inside;
    }
  }
  batches_ = ordered(static_cast<std::int64_t>(starts_.size()), stream(position_, true));
  starts_.push_back(total);
}

std::vector<std::int64_t> BatchSampler::ordered(std::int64_t count, PhiloxKey key) const {
  if (options_.shuffle) return shuffled(count, key);
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

std::vector<std::int64_t> BatchSampler::next() {
  const auto batch = static_cast<std::size_t>(batches_[static_cast<std::size_t>(position_.batch)]);
  std::vector<std::int64_t> chosen(order_.begin() + static_cast<std::ptrdiff_t>(starts_[batch]),
                                   order_.begin() + static_cast<std::ptrdiff_t>(starts_[batch + 1]));
  if (++position_.batch == batches()) {
    ++position_.epoch, position_.batch = 0;
    if (options_.shuffle) plan();
  }
  return chosen;
}

void BatchSampler::restore(const BatchPosition& position) {
  if (position.epoch < 0 || position.batch < 0)
    fail("batches", "cannot resume from epoch ", position.epoch, ", batch ", position.batch);
  const BatchPosition before = position_;
  position_ = position;
  plan();
  if (position.batch < batches()) return;
  const std::int64_t there_are = batches();
  position_ = before;
  plan();
  fail<InputError>("batches", "cannot resume from batch ", position.batch, " of epoch ", position.epoch, ", which has ",
                   there_are, "; did the data or the batch size change?");
}

double BatchSampler::padding() const {
  std::int64_t tokens = 0, places = 0;
  for (const std::vector<std::int32_t>* side : {&sources_, &targets_}) {
    if (side->empty()) continue;
    for (std::size_t b = 0; b + 1 < starts_.size(); ++b) {
      std::int64_t longest = 0;
      for (std::size_t i = starts_[b]; i < starts_[b + 1]; ++i) {
        const std::int64_t length = (*side)[static_cast<std::size_t>(order_[i])];
        tokens += length;
        longest = std::max(longest, length);
      }
      places += longest * static_cast<std::int64_t>(starts_[b + 1] - starts_[b]);
    }
  }
  return places > 0 ? 1 - static_cast<double>(tokens) / static_cast<double>(places) : 0;
}

TokenBatch pad(std::span<const std::span<const std::int32_t>> sequences, std::int32_t padding) {
  std::size_t longest = 0;
  for (const auto& sequence : sequences) longest = std::max(longest, sequence.size());
  TokenBatch batch = empty_batch(static_cast<std::int64_t>(sequences.size()), static_cast<std::int64_t>(longest));
  auto* row = batch.ids.data<std::int32_t>();
  auto* length = batch.lengths.data<std::int32_t>();
  for (const auto& sequence : sequences) {
    std::ranges::fill(std::ranges::copy(sequence, row).out, row + longest, padding);
    row += longest;
    *length++ = static_cast<std::int32_t>(sequence.size());
    batch.tokens += static_cast<std::int64_t>(sequence.size());
  }
  return batch;
}

TokenBatch pad(std::span<const std::vector<std::int32_t>> sequences, std::span<const std::int64_t> chosen,
               std::int32_t padding) {
  std::vector<std::span<const std::int32_t>> rows;
  for (const std::int64_t i : chosen) rows.emplace_back(sequences[static_cast<std::size_t>(i)]);
  return pad(rows, padding);
}

FeatureBatch pad(std::span<const Tensor> sequences) {
  std::int64_t longest = 0;
  const std::int64_t D = sequences.empty() || sequences[0].rank() != 2 ? 0 : sequences[0].dim(1);
  for (const Tensor& sequence : sequences) {
    if (sequence.rank() != 2 || sequence.dim(1) != D || sequence.dtype() != DType::f32)
      fail("batches", "a sequence of features does not fit: got ", sequence.shape(), ", expected float32 [T, ", D, "]");
    longest = std::max(longest, sequence.dim(0));
  }
  const auto B = static_cast<std::int64_t>(sequences.size());
  FeatureBatch batch{Tensor::empty({B, longest, D}), Tensor::empty({B}, DType::i32), 0};
  float* row = batch.features.data();
  auto* length = batch.lengths.data<std::int32_t>();
  for (const Tensor& sequence : sequences) {
    std::fill(std::ranges::copy(sequence.span(), row).out, row + longest * D, 0.f);
    row += longest * D;
    *length++ = static_cast<std::int32_t>(sequence.dim(0));
    batch.frames += sequence.dim(0);
  }
  return batch;
}

/// A window of n ids has n - 1 inputs and n - 1 targets.
WindowBatch window_batch(const TokenStore& store, std::span<const TokenRange> ranges, std::int32_t padding,
                         std::int32_t ignored) {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::span<const std::int32_t>> inputs, targets;
  for (const TokenRange& range : ranges) ids.push_back(store.read(range));
  for (const std::vector<std::int32_t>& window : ids) {
    inputs.push_back(std::span(window).first(window.size() - 1));
    targets.push_back(std::span(window).subspan(1));
  }
  TokenBatch seen = pad(inputs, padding);
  return {seen.ids, pad(targets, ignored).ids, seen.lengths, seen.tokens};
}

WindowBatch window_batch(const TokenWindows& windows, std::span<const std::int64_t> chosen, std::int32_t padding,
                         std::int32_t ignored) {
  std::vector<TokenRange> ranges;
  for (const std::int64_t i : chosen) ranges.push_back(windows[i]);
  return window_batch(windows.store(), ranges, padding, ignored);
}

WindowBatch random_windows(const TokenStore& store, std::int64_t B, std::int64_t T, PhiloxKey key) {
  return random_windows(store, {0, store.size()}, B, T, key);
}

WindowBatch random_windows(const TokenStore& store, TokenRange part, std::int64_t B, std::int64_t T, PhiloxKey key) {
  if (B < 1 || T < 1) fail("batches", "windows need a size: got ", B, " of ", T, " tokens");
  if (part.size() <= T)
    fail<InputError>("batches", "the text is too short for a window: got ", part.size(), " tokens, expected at least ",
                     T + 1);
  std::vector<TokenRange> ranges;
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t begin = part.begin + bounded(key, static_cast<std::uint64_t>(b), part.size() - T);
    ranges.push_back({begin, begin + T + 1});
  }
  return window_batch(store, ranges, 0, 0);
}

}  // namespace attend
