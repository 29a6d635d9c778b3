// Makes batches: chooses the sequences of each batch, and pads them to tensors. Batches hold about the same number of
// tokens, padding included. Sequences of similar length are batched together, so that there is little padding. The
// batches depend only on lengths, options, seed and epoch, so a run is resumed from three numbers (BatchPosition).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "attend/core/random.h"
#include "attend/core/tensor.h"
#include "attend/data/token_store.h"

namespace attend {

/// What to do with a sequence that has more tokens than BatchOptions::max_tokens.
enum class TooLong : std::uint8_t {
  alone,  ///< put it into a batch of its own
  error,  ///< throw InputError with its index
};

struct BatchOptions {
  std::int64_t max_tokens = 4096;  ///< limit of B · T, where T is the longest sequence; of a pair, the longer side
  std::int64_t max_sequences = 0;  ///< limit of B; 0: no limit
  TooLong too_long = TooLong::alone;
  /// If false, every epoch has the same batches, the shortest sequences first.
  bool shuffle = true;
  std::uint64_t seed = 0;
  /// Sequences are shuffled, and then sorted by length within pools of this size. Larger pools give less padding,
  /// smaller pools give more random batches; 0: one pool.
  std::int64_t pool = 32768;
};

/// The position of a run in the data; a checkpoint stores it.
struct BatchPosition {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  ///< the next batch of this epoch
  bool operator==(const BatchPosition&) const = default;
};

/// An endless series of batches, epoch after epoch. Each epoch has every sequence once. Not thread-safe. Takes 12 bytes
/// for a sequence, 16 for a pair.
class BatchSampler {
 public:
  /// Single sequences with these lengths. Throws InputError if there are none.
  explicit BatchSampler(std::vector<std::int32_t> lengths, const BatchOptions& options = {});
  /// Pairs with these lengths.
  static BatchSampler pairs(std::vector<std::int32_t> sources, std::vector<std::int32_t> targets,
                            const BatchOptions& options = {});

  /// The sequences of the next batch, as indices into the lengths. Never empty.
  std::vector<std::int64_t> next();

  /// The position of the next batch. An epoch ends when its last batch was returned.
  const BatchPosition& position() const { return position_; }
  /// Continues from a position, as if all batches before it had been returned. Throws if the data have no such
  /// position.
  void restore(const BatchPosition& position);

  std::int64_t batches() const { return static_cast<std::int64_t>(batches_.size()); }  ///< of the current epoch
  std::int64_t sequences() const { return static_cast<std::int64_t>(sources_.size()); }
  /// The fraction of B · T that is padding, from 0 to 1, over both sides and all batches of the current epoch.
  double padding() const;

 private:
  BatchSampler(const BatchOptions& options, std::vector<std::int32_t> sources, std::vector<std::int32_t> targets);
  void plan();  // makes the batches of position_.epoch
  /// 0 … count - 1, shuffled if options_.shuffle.
  std::vector<std::int64_t> ordered(std::int64_t count, PhiloxKey key) const;
  std::int64_t longer(std::int64_t i) const;

  std::vector<std::int32_t> sources_, targets_;  // targets_ is empty for single sequences
  BatchOptions options_;
  BatchPosition position_;
  std::vector<std::int64_t> order_;    // all sequences, batch after batch
  std::vector<std::size_t> starts_;    // where in order_ each batch begins, and the end of the last one
  std::vector<std::int64_t> batches_;  // the batches of the epoch, as indices into starts_
};

/// A random permutation of 0 … count - 1 that depends only on the key (Fisher–Yates).
std::vector<std::int64_t> shuffled(std::int64_t count, PhiloxKey key);

/// Sequences of different lengths, padded to one tensor.
struct TokenBatch {
  Tensor ids;               ///< int32 [B, T], padded. An encoder also takes features here, float32 [B, T, D]
  Tensor lengths;           ///< int32 [B]
  std::int64_t tokens = 0;  ///< without the padding
};
/// T is the length of the longest sequence. Without sequences the shape is [0, 0].
TokenBatch pad(std::span<const std::span<const std::int32_t>> sequences, std::int32_t padding);
/// The chosen ones of `sequences`.
TokenBatch pad(std::span<const std::vector<std::int32_t>> sequences, std::span<const std::int64_t> chosen,
               std::int32_t padding);

/// Sequences of feature vectors (patches of an image, frames of audio), padded to one tensor.
struct FeatureBatch {
  Tensor features;          ///< float32 [B, T, D], padded with 0
  Tensor lengths;           ///< int32 [B]
  std::int64_t frames = 0;  ///< number of vectors without the padding
};
/// Each sequence is float32 [T, D] with its own T and a common D. Without sequences the shape is [0, 0, 0]. Throws
/// Error if the shapes do not match.
FeatureBatch pad(std::span<const Tensor> sequences);

/// A training batch of a language model.
struct WindowBatch {
  Tensor inputs;            ///< int32 [B, T], padded with `padding`
  Tensor targets;           ///< int32 [B, T]: the id after each input, padded with `ignored`
  Tensor lengths;           ///< int32 [B]
  std::int64_t tokens = 0;  ///< without the padding
};
/// The chosen windows. cross_entropy() ignores the target `ignored`.
WindowBatch window_batch(const TokenWindows& windows, std::span<const std::int64_t> chosen, std::int32_t padding = 0,
                         std::int32_t ignored = -100);
/// The same for any ranges of a store with at least two ids each.
WindowBatch window_batch(const TokenStore& store, std::span<const TokenRange> ranges, std::int32_t padding = 0,
                         std::int32_t ignored = -100);
/// B random windows of T inputs, across documents. They depend only on the key; with {seed, step} every step of a run
/// is reproducible. Throws InputError if the store has no more than T tokens.
WindowBatch random_windows(const TokenStore& store, std::int64_t B, std::int64_t T, PhiloxKey key);
/// The same from a part of the store.
WindowBatch random_windows(const TokenStore& store, TokenRange part, std::int64_t B, std::int64_t T, PhiloxKey key);

}  // namespace attend
