// The key-value cache of a model that generates token by token: keys and values of all tokens so far. They stay in the
// tensors in which the projections made them. Appending copies nothing, and selecting rows, as a beam search does at
// every step, rearranges only a table of row numbers that all layers share. A cache that others join holds sequences of
// any age. It copies keys and values into a store of its own, so that the memory of a finished sequence is used again.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/core/tensor.h"
#include "attend/kernels/cached_attention.h"

namespace attend {

/// How queries attend to a cache.
struct CachedHeads {
  std::int64_t heads = 1;           ///< of the queries
  std::optional<float> scale = {};  ///< of the scores; 1 / √D unless given
  Probe* probe = nullptr;           ///< gets the attention weights
  std::int64_t kv_heads = 0;        ///< of keys and values; must divide heads. 0: as many as heads
  /// Added to the scaled scores; float32, or undefined.
  /// In attend: [N|1, H, P], where P is at least the longest of lengths(), and element i belongs to the i-th position
  /// of a row. In begin: [1, H, T, S], where T and S are at least the longest length, by positions within a row.
  Tensor bias = {};
};

/// Shapes: N rows (sequences), H heads of queries and KV heads of keys and values, all of size D.
class KeyValueCache {
 public:
  KeyValueCache() = default;
  explicit KeyValueCache(std::int64_t layers) : layers_(static_cast<std::size_t>(layers)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t positions() const { return positions_; }

  /// The number of positions that each row has and sees; at most positions().
  std::vector<std::int64_t> lengths() const;

  /// Appends one layer's keys and values of T positions to every row.   [N, T, 2·KV·D] or, for one position,
  /// [N, 2·KV·D], each row k and then v. Row i sees only the first lengths[i] (int32 [N]) of them, all when undefined.
  /// Every layer gets them in turn, and with the same lengths. The tensor is kept, not copied.
  void append(std::size_t layer, const Tensor& keys_values, const Tensor& lengths = {});

  /// Fills a layer that has nothing yet with the beginnings of all rows, packed without padding: row i has the next
  /// lengths[i] tokens. Returns the causal attention within each row.
  /// q [sum of lengths, H·D], keys_values [sum of lengths, 2·KV·D] -> [sum of lengths, H·D];  a probe gets
  /// [N, H, longest, longest]. keys_values is kept, not copied.
  Tensor begin(std::size_t layer, const Tensor& q, const Tensor& keys_values, std::span<const std::int64_t> lengths,
               const CachedHeads& how);

  /// From now on row i is what row rows[i] was. Rows may repeat, and may be left out.
  void select(std::span<const std::int64_t> rows);

  /// Appends the rows of another cache, which no others have joined. A cache without rows shares the tensors of the
  /// other. One with rows copies keys and values into a store, from now on, which takes as much memory as there have
  /// ever been positions at once.
  void join(const KeyValueCache& other);

  /// One query a row over all positions that the row has in this layer.
  /// q [N, H·D] -> [N, H·D];  a probe gets [N, H, 1, positions]
  Tensor attend(std::size_t layer, const Tensor& q, const CachedHeads& how) const;

 private:
  struct Layer {
    std::vector<Tensor> pages;
    std::vector<kernels::CachedPosition> positions;
    std::int64_t width = 0;  // of a position's keys: KV·D
  };
  /// Keys and values of single positions, in places that all layers number alike and rows may share.
  struct Store {
    std::vector<Tensor> layers;                   // [places, 2·width] each
    std::vector<std::vector<std::int32_t>> rows;  // the places of each row's positions
    std::vector<std::int32_t> free;               // the first one last
  };
  void grow(std::int64_t rows, std::int64_t positions, const Tensor& lengths);
  void grow_packed(std::span<const std::int64_t> lengths);
  std::int32_t take_place();
  void find_free_places();
  void copy_into_store(const KeyValueCache& other);
  void write_table();
  void append_to_store(std::size_t layer, const Tensor& keys_values);

  std::vector<Layer> layers_;
  std::optional<Store> store_;
  std::int64_t rows_ = 0, positions_ = 0, capacity_ = 0;
  std::vector<std::int32_t> page_rows_;  // [rows, capacity]: which row of a position's page, or place in the store;
                                         // -1: not to be seen
};

}  // namespace attend
