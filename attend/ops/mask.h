// Which keys a query may attend to. A mask is a small value that is passed through a model beside the activations. The
// attention kernel skips what a causal or length mask hides.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// A mask has up to three parts: a causal part, key lengths (or the lengths of packed sequences), and a matrix. Query i
/// of sequence b sees key j when all parts allow it. Parts are combined with &. A query that sees nothing gives zeros,
/// and gradients of zero.
class Mask {
 public:
  /// Everything is seen.
  Mask() = default;
  static Mask none() { return {}; }
  /// j <= i: nothing later is seen (Vaswani et al. 2017, section 3.2.3).
  static Mask causal();
  /// j < lengths[b]: what follows is padding.
  static Mask keys(std::vector<std::int64_t> lengths);
  static Mask keys(const Tensor& lengths);  ///< int32 [B]
  /// Packed sequences: texts of these lengths without padding between them, in a batch of 1. Each text attends to
  /// itself alone, and the causal part holds within each text. Cannot be combined with lengths or a matrix.
  static Mask texts(std::vector<std::int64_t> lengths);
  /// Both.
  static Mask causal_keys(std::vector<std::int64_t> lengths) { return causal() & keys(std::move(lengths)); }
  static Mask causal_keys(const Tensor& lengths) { return causal() & keys(lengths); }
  /// matrix[…, i, j] != 0.   int8 [T, S], [B, T, S] or [B, H, T, S]; a size of 1 for B or H stands for all.
  static Mask allowed(Tensor matrix);
  /// matrix[…, i, j] is added to the scaled score; -infinity hides.   float32, shapes as above. It gets no gradient
  /// (AttentionOptions::bias does).
  static Mask additive(const Tensor& matrix);

  /// For decoding with a cache: query 0 of sequence b stands at position positions[b] among the keys, so that the
  /// causal part becomes j <= positions[b] + i.
  Mask starting_at(std::vector<std::int64_t> positions) const;

  /// Both must let a key be seen. Of two lengths the smaller counts; two matrices throw.
  friend Mask operator&(const Mask& a, const Mask& b);

  bool is_causal() const { return causal_; }
  /// [B], or empty: all keys (or, once checked, no sequences).
  const std::vector<std::int64_t>& lengths() const { return lengths_; }
  /// [B], or empty: 0 (or, once checked, no sequences).
  const std::vector<std::int64_t>& positions() const { return positions_; }
  /// The lengths of packed sequences, or empty: not packed.
  const std::vector<std::int64_t>& texts() const { return texts_; }
  const Tensor& matrix() const { return matrix_; }  ///< int8, float32 or undefined

  /// Throws, in the name of `op`, unless the mask fits queries [B, T] and keys [B, S] of H heads.
  void check(const char* op, std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t S) const;

 private:
  bool causal_ = false, by_length_ = false, by_position_ = false, by_text_ = false;
  std::vector<std::int64_t> lengths_, positions_, texts_;
  Tensor matrix_;
};

/// Throws, in the name of `op`, unless a matrix with an element for each query and key is [T, S], [B|1, T, S] or
/// [B|1, H|1, T, S].
void check_score_matrix(const char* op, const char* name, const Tensor& matrix, std::int64_t B, std::int64_t H,
                        std::int64_t T, std::int64_t S);

}  // namespace attend
