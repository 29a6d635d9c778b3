// Which sequences go into a batch, in which order, and how they become tensors. Batches hold about the same number of
// tokens, padding included; sequences of similar length go together, so that there is little padding. Everything
// follows from lengths, options, seed and epoch: three numbers resume a run where it stopped.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "attend/core/random.h"
#include "attend/core/tensor.h"
#include "attend/data/token_store.h"

namespace attend {

/// What becomes of a sequence that has more tokens than a batch may.
enum class TooLong : std::uint8_t {
  alone,  ///< it is a batch of its own
  error,  ///< InputError, naming it
};

struct BatchOptions {
  std::int64_t max_tokens = 4096;  ///< B · T at most, T being the longest sequence; of a pair, the longer side
  std::int64_t max_sequences = 0;  ///< B at most; 0: no limit
  TooLong too_long = TooLong::alone;
  /// Off: the same batches in every epoch, shortest first.
  bool shuffle = true;
  std::uint64_t seed = 0;
  /// Sequences are shuffled, and sorted by length within pools of this many. Larger pools have less padding, smaller
  /// ones mix better; 0: all in one.
  std::int64_t pool = 32768;
};

/// Where a run through the data is: all that a checkpoint must keep.
struct BatchPosition {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  ///< the next one of that epoch
  bool operator==(const BatchPosition&) const = default;
};

/// Gives batches without end, one epoch after the other; in each epoch every sequence comes once. Not thread-safe.
/// Memory: 12 bytes a sequence, 16 a pair.
class BatchSampler {
 public:
  /// Single sequences, by their lengths. Throws InputError when there is none.
  explicit BatchSampler(std::vector<std::int32_t> lengths, const BatchOptions& options = {});
  /// Pairs, by the lengths of both sides.
  static BatchSampler pairs(std::vector<std::int32_t> sources, std::vector<std::int32_t> targets,
                            const BatchOptions& options = {});

  /// The sequences of the next batch, by their places in the lengths. Never empty.
  std::vector<std::int64_t> next();

  /// Of the next batch: an epoch ends when its last batch has been given.
  const BatchPosition& position() const { return position_; }
  /// Goes on from there, as if the batches before had been given. Throws when the position cannot be one of these data.
  void restore(const BatchPosition& position);

  std::int64_t batches() const { return static_cast<std::int64_t>(batches_.size()); }  ///< of the epoch at hand
  std::int64_t sequences() const { return static_cast<std::int64_t>(sources_.size()); }
  /// The share of B · T that is padding, over both sides and all batches of the epoch at hand: 0 to 1.
  double padding() const;

 private:
  BatchSampler(const BatchOptions& options, std::vector<std::int32_t> sources, std::vector<std::int32_t> targets);
  void plan();  // the batches of position_.epoch
  /// 0 … count - 1, shuffled if the options say so.
  std::vector<std::int64_t> ordered(std::int64_t count, PhiloxKey key) const;
  std::int64_t longer(std::int64_t i) const;

  std::vector<std::int32_t> sources_, targets_;  // targets_ is empty for single sequences
  BatchOptions options_;
  BatchPosition position_;
  std::vector<std::int64_t> order_;    // all sequences, batch after batch
  std::vector<std::size_t> starts_;    // where in order_ each batch begins, and where the last one ends
  std::vector<std::int64_t> batches_;  // the batches of the epoch, as places in starts_
};

/// 0 … count - 1 in an order that the key alone decides (Fisher–Yates).
std::vector<std::int64_t> shuffled(std::int64_t count, PhiloxKey key);

/// Sequences of different lengths in one tensor.
struct TokenBatch {
  Tensor ids;               ///< int32 [B, T], padded. An encoder also takes features here, float32 [B, T, D]
  Tensor lengths;           ///< int32 [B]
  std::int64_t tokens = 0;  ///< without the padding
};
/// T is the longest sequence's length; no sequences give [0, 0].
TokenBatch pad(std::span<const std::span<const std::int32_t>> sequences, std::int32_t padding);
/// Those of `sequences` that a sampler chose.
TokenBatch pad(std::span<const std::vector<std::int32_t>> sequences, std::span<const std::int64_t> chosen,
               std::int32_t padding);

/// Sequences of feature vectors (patches of a picture, frames of sound) in one tensor.
struct FeatureBatch {
  Tensor features;          ///< float32 [B, T, D], padded with 0
  Tensor lengths;           ///< int32 [B]
  std::int64_t frames = 0;  ///< vectors without the padding
};
/// Each sequence is float32 [T, D], with a T of its own and the same D. No sequences give [0, 0, 0]. Throws Error when
/// the shapes do not fit together.
FeatureBatch pad(std::span<const Tensor> sequences);

/// Windows as a language model learns from them.
struct WindowBatch {
  Tensor inputs;            ///< int32 [B, T], filled up with `padding`
  Tensor targets;           ///< int32 [B, T]: the id after each input, filled up with `ignored`
  Tensor lengths;           ///< int32 [B]
  std::int64_t tokens = 0;  ///< without the padding
};
/// Those windows that a sampler over windows.lengths() chose. `ignored` is what cross_entropy() passes over.
WindowBatch window_batch(const TokenWindows& windows, std::span<const std::int64_t> chosen, std::int32_t padding = 0,
                         std::int32_t ignored = -100);
/// The same of any ranges of a store, of two ids at least.
WindowBatch window_batch(const TokenStore& store, std::span<const TokenRange> ranges, std::int32_t padding = 0,
                         std::int32_t ignored = -100);
/// B windows of T inputs from anywhere in the store, across documents; the key alone decides which: {seed, step} makes
/// every step of a run reproducible. Throws InputError when the store has not more than T tokens.
WindowBatch random_windows(const TokenStore& store, std::int64_t B, std::int64_t T, PhiloxKey key);
/// The same from a part of it.
WindowBatch random_windows(const TokenStore& store, TokenRange part, std::int64_t B, std::int64_t T, PhiloxKey key);

}  // namespace attend
