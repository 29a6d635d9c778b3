// What a model that writes word by word remembers: the keys and values of what it has read and said. They stay in the
// tensors in which the projections made them. Growing copies nothing, and when rows are chosen anew, as a beam search
// does at every step, only a table of small numbers is rearranged, one for all layers. A cache that others join, whose
// rows are of any age, keeps its own copies instead, so that a row that leaves gives back all that it had.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/core/tensor.h"
#include "attend/kernels/cached_attention.h"

namespace attend {

/// How queries are compared with what a cache has.
struct CachedHeads {
  std::int64_t heads = 1;           ///< must divide the width
  std::optional<float> scale = {};  ///< of the scores; 1 / √(width / heads) unless given
  Probe* probe = nullptr;
};

class KeyValueCache {
 public:
  KeyValueCache() = default;
  explicit KeyValueCache(std::int64_t layers) : layers_(static_cast<std::size_t>(layers)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t positions() const { return positions_; }

  /// One layer's keys and values of T more positions of every row.   [N, T, 2·W] or, for one, [N, 2·W], each row k and
  /// then v. Of row i only the first lengths[i] (int32 [N]) are there to be seen, all when undefined. Every layer gets
  /// them in turn, and with the same lengths. The tensor is kept, not copied.
  void append(std::size_t layer, const Tensor& keys_values, const Tensor& lengths = {});

  /// The beginnings of all rows in one pass, one behind the other without padding: of row i the next lengths[i].
  /// q [sum of lengths, W], each over the keys and values [sum of lengths, 2·W] of its row up to its own -> [sum of
  /// lengths, W];  a probe gets [N, H, longest, longest]. The cache, which has nothing of this layer, keeps
  /// keys_values.
  Tensor begin(std::size_t layer, const Tensor& q, const Tensor& keys_values, std::span<const std::int64_t> lengths,
               const CachedHeads& how);

  /// From now on row i is what row rows[i] was. Rows may repeat, and may be left out.
  void select(std::span<const std::int64_t> rows);

  /// The rows of another cache come behind those of this one. From now on keys and values are copied into a store,
  /// which takes as much memory as there have ever been positions at once.
  void join(const KeyValueCache& other);

  /// One query a row over all that the row has in this layer.   q [N, W] -> [N, W];  a probe gets [N, H, 1, positions]
  Tensor attend(std::size_t layer, const Tensor& q, const CachedHeads& how) const;

 private:
  struct Layer {
    std::vector<Tensor> pages;
    std::vector<kernels::CachedPosition> positions;
    std::int64_t width = 0;
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
  void write_table();
  void append_to_store(std::size_t layer, const Tensor& keys_values);

  std::vector<Layer> layers_;
  std::optional<Store> store_;
  std::int64_t rows_ = 0, positions_ = 0, capacity_ = 0;
  std::vector<std::int32_t> page_rows_;  // [rows, capacity]: which row of a position's page, or place in the store;
                                         // -1: not to be seen
};

}  // namespace attend
