// Which keys a query may see. A mask is a small value: it travels through a model beside the activations, and the
// attention kernel skips what it hides.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Parts that all must agree before query i of sequence b sees key j: a causal part, a part by key lengths (or by
/// texts), and a matrix. Parts are joined with &. A query that sees nothing gives zeros, and gradients of zero.
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
  /// Texts of these lengths one behind the other, as the one sequence of a batch of 1, so that nothing is spent on
  /// padding: each sees itself alone. Causality counts within each text. Takes neither lengths nor a matrix beside it.
  static Mask texts(std::vector<std::int64_t> lengths);
  /// Both.
  static Mask causal_keys(std::vector<std::int64_t> lengths) { return causal() & keys(std::move(lengths)); }
  static Mask causal_keys(const Tensor& lengths) { return causal() & keys(lengths); }
  /// matrix[…, i, j] != 0.   int8 [T, S], [B, T, S] or [B, H, T, S]; a size of 1 for B or H stands for all.
  static Mask allowed(Tensor matrix);
  /// matrix[…, i, j] is added to the scaled score; -infinity hides.   float32, shapes as above. It gets no gradient.
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
  /// The lengths of texts one behind the other, or empty: sequences are whole.
  const std::vector<std::int64_t>& texts() const { return texts_; }
  const Tensor& matrix() const { return matrix_; }  ///< int8, float32 or undefined

  /// Throws, in the name of `op`, unless the mask fits queries [B, T] and keys [B, S] of H heads.
  void check(const char* op, std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t S) const;

 private:
  bool causal_ = false, by_length_ = false, by_position_ = false, by_text_ = false;
  std::vector<std::int64_t> lengths_, positions_, texts_;
  Tensor matrix_;
};

}  // namespace attend
