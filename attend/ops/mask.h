// Attention masks: which keys a query may attend to. The attention kernel skips keys that are masked by a causal mask
// or by lengths, so such masks save time.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// A mask has up to four parts: a causal part, a window, key lengths (or the lengths of packed sequences), and a
/// matrix. Query i of sequence b attends to key j if all parts allow it. Parts are combined with &, for example
/// Mask::causal() & Mask::keys(lengths). If all keys of a query are masked, its result and its gradients are zero.
class Mask {
 public:
  /// Nothing is masked.
  Mask() = default;
  static Mask none() { return {}; }
  /// Allows j <= i: no query attends to later keys (Vaswani et al. 2017, section 3.2.3).
  static Mask causal();
  /// Allows |i - j| <= distance: local attention in a sliding window (Beltagy et al. 2020, "Longformer").
  static Mask window(std::int64_t distance);
  /// Allows j < lengths[b]: masks the padding.
  static Mask keys(std::vector<std::int64_t> lengths);
  static Mask keys(const Tensor& lengths);  ///< int32 [B]
  /// For packed sequences: sequences of these lengths, without padding between them, in a batch of 1. Each sequence
  /// attends only to itself, and a causal part and a window apply within each sequence. Cannot be combined with
  /// lengths or a matrix.
  static Mask packed(std::vector<std::int64_t> lengths);
  /// Allows matrix[…, i, j] != 0.   int8 [T, S], [B, T, S] or [B, H, T, S], where B and H may be 1 for all sequences
  /// or heads. For a float mask that is added to the scores, use AttentionOptions::bias.
  static Mask allowed(Tensor matrix);

  /// Allows what both masks allow: the smaller of two lengths or windows is used. Throws if both have a matrix.
  friend Mask operator&(const Mask& a, const Mask& b);

  bool is_causal() const { return causal_; }
  std::int64_t window_distance() const { return window_; }  ///< -1: the mask has no window
  /// [B], or empty if the mask has no lengths.
  const std::vector<std::int64_t>& lengths() const { return lengths_; }
  /// The lengths of packed sequences, or empty if they are not packed.
  const std::vector<std::int64_t>& packed_lengths() const { return packed_lengths_; }
  const Tensor& matrix() const { return matrix_; }  ///< int8, or undefined

  /// Throws Error [op] unless the mask fits queries [B, T] and keys [B, S] of H heads.
  void check(const char* op, std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t S) const;

 private:
  bool causal_ = false, by_length_ = false, packed_ = false;
  std::int64_t window_ = -1;
  std::vector<std::int64_t> lengths_, packed_lengths_;
  Tensor matrix_;
};

/// Throws Error [op] unless a matrix, with one element for each query and key, has the shape [T, S], [B|1, T, S] or
/// [B|1, H|1, T, S].
void check_score_matrix(const char* op, const char* name, const Tensor& matrix, std::int64_t B, std::int64_t H,
                        std::int64_t T, std::int64_t S);

}  // namespace attend
