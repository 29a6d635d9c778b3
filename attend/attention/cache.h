// The key-value cache of a model that generates token by token. It holds the keys and values of all previous tokens in
// the tensors that the projections returned. So append() copies nothing, and select(), which beam search calls at every
// step, only rearranges a table of row numbers that all layers share. After join(), the cache holds sequences of
// different lengths; then it copies keys and values to a store of its own, which reuses the memory of finished
// sequences.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/core/tensor.h"
#include "attend/kernels/cached_attention.h"

namespace attend {

/// Options of attention over a cache.
struct CachedHeads {
  std::int64_t heads = 1;           ///< number of query heads
  std::optional<float> scale = {};  ///< scale of the scores; 1 / √D if not set
  Probe* probe = nullptr;           ///< gets the attention weights
  std::int64_t kv_heads = 0;        ///< number of key and value heads; must divide `heads`. 0: the same as `heads`
  /// Added to the scaled scores; float32, or undefined. attend() expects [N|1, H, P], where P is at least the maximum
  /// of lengths(); element i is for position i of a sequence. begin() expects [1, H, T, S], where T and S are at least
  /// the maximum length; t and s are positions within a sequence.
  Tensor bias = {};
  float cap = 0.f;           ///< above 0: a scaled score s becomes cap · tanh(s / cap)
  std::int64_t window = -1;  ///< attend to positions at this distance at most; -1: no limit
};

/// Shapes: N sequences (rows), H query heads and KV heads of keys and values, all of size D.
class KeyValueCache {
 public:
  KeyValueCache() = default;
  explicit KeyValueCache(std::int64_t layers) : layers_(static_cast<std::size_t>(layers)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t positions() const { return positions_; }

  /// The number of visible positions of each sequence; at most positions().
  std::vector<std::int64_t> lengths() const;

  /// Appends the keys and values of T positions to every sequence of one layer. keys_values is [N, T, 2·KV·D], or
  /// [N, 2·KV·D] for one position; the keys come first, then the values. Sequence i attends only to the first
  /// lengths[i] (int32 [N]) of them, or to all if `lengths` is undefined. Call this for every layer, with the same
  /// lengths. The cache keeps a reference to the tensor, not a copy.
  void append(std::size_t layer, const Tensor& keys_values, const Tensor& lengths = {});

  /// Fills an empty layer with the prompts of all sequences, and returns the causal attention within each sequence. The
  /// prompts are packed sequences of the given lengths, without padding. A probe gets [N, H, longest, longest]. The
  /// cache keeps a reference to keys_values, not a copy.
  ///   q [sum of lengths, H·D], keys_values [sum of lengths, 2·KV·D] -> [sum of lengths, H·D]
  Tensor begin(std::size_t layer, const Tensor& q, const Tensor& keys_values, std::span<const std::int64_t> lengths,
               const CachedHeads& how);

  // Prompts that are read in parts: reserve(), then for each pass read_next() and, for each layer, begin().
  /// The positions [first, first + count) of a sequence.
  struct Part {
    std::size_t sequence = 0;
    std::int64_t first = 0, count = 0;
  };
  /// Prepares an empty cache for prompts of these lengths. `width` is that of keys and values together, 2·KV·D.
  void reserve(std::span<const std::int64_t> lengths, std::int64_t width);
  /// The keys and values of a part in one layer of a reserved cache, [count, 2·KV·D]. They can be copied from another
  /// cache before the rest of the prompt is read.
  std::span<float> keys_values(std::size_t layer, const Part& part);
  /// begin() then takes these parts, whose beginnings were read before, instead of whole prompts. The bits of a row of
  /// its result do not depend on how the prompts are divided. Without parts, all prompts have been read.
  void read_next(std::vector<Part> parts);

  /// Keeps only the given sequences, in the given order: sequence i becomes the old sequence rows[i]. A sequence may
  /// appear several times.
  void select(std::span<const std::int64_t> rows);

  /// Appends the sequences of another cache, on which join() was never called. An empty cache shares the other's
  /// tensors. A cache with sequences copies all keys and values to its store. The store never shrinks.
  void join(const KeyValueCache& other);

  /// Attention of one query for each sequence over all positions of the sequence in this layer.
  ///   q [N, H·D] -> [N, H·D];  a probe gets [N, H, 1, positions]
  Tensor attend(std::size_t layer, const Tensor& q, const CachedHeads& how) const;

 private:
  struct Layer {
    std::vector<Tensor> pages;
    std::vector<kernels::CachedPosition> positions;
    std::int64_t width = 0;  // of the keys of one position: KV·D
  };
  /// Keys and values of single positions. A position has the same slot in all layers; sequences may share slots.
  struct Store {
    std::vector<Tensor> layers;                   // each [slots, 2·width]
    std::vector<std::vector<std::int32_t>> rows;  // the slots of each sequence's positions
    std::vector<std::int32_t> free;               // free slots; the next one to use is at the back
  };
  /// Prompts that are being read in parts.
  struct Reading {
    std::vector<std::int64_t> starts;  // the first packed row of each prompt
    std::vector<Part> parts;
    std::int64_t rows = 0, positions = 0;
    std::vector<std::int32_t> page_rows;  // [rows, positions], of the tokens of the parts
  };
  void grow(std::int64_t rows, std::int64_t positions, const Tensor& lengths);
  void grow_packed(std::span<const std::int64_t> lengths);
  void set_packed(Layer& layer, const Tensor& keys_values) const;
  Tensor begin_parts(std::size_t layer, const Tensor& q, const Tensor& keys_values, const CachedHeads& how);
  std::int32_t allocate_slot();
  void find_free_slots();
  void copy_into_store(const KeyValueCache& other);
  void write_table();
  void append_to_store(std::size_t layer, const Tensor& keys_values);

  std::vector<Layer> layers_;
  std::optional<Store> store_;
  std::optional<Reading> reading_;
  std::int64_t rows_ = 0, positions_ = 0, capacity_ = 0;
  std::vector<std::int32_t> page_rows_;  // [rows, capacity]: the row within the page of a position, or its slot in the
                                         // store; -1: not visible
};

}  // namespace attend
