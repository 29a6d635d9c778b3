// Fused attention: softmax(scale · Q Kᵀ + bias) V for each head, computed in tiles with an online softmax (Dao et al.
// 2022, "FlashAttention"). The [T, S] matrix is never stored; the backward pass recomputes its tiles. Tiles that a
// causal, window or length mask hides completely are skipped.
#pragma once
#include <cstdint>
#include <span>

#include "attend/core/random.h"
#include "attend/kernels/dropout_rate.h"

namespace attend::kernels {

/// One sequence: its rows in q and out, and its rows in k and v. Padded batches and packed sequences are lists of
/// segments. Segments must not share rows of q, nor, if gradients are computed, rows of k.
struct AttentionSegment {
  std::int64_t q_begin = 0, q_rows = 0;
  std::int64_t k_begin = 0, k_rows = 0;
};

/// A matrix with one element for each query and key; ignored if `data` is null. Element (segment, head, query, key) has
/// the offset segment * segment_stride + head * head_stride + query * row_stride + key. With a stride of 0, all
/// segments or heads share the matrix.
template <typename T>
struct AttentionMatrix {
  const T* data = nullptr;
  std::int64_t segment_stride = 0, head_stride = 0, row_stride = 0;

  std::int64_t offset(std::int64_t segment, std::int64_t head, std::int64_t query) const {
    return segment * segment_stride + head * head_stride + query * row_stride;
  }
};

/// Row r of head h of q begins at q + r * q_stride + h * head_dim. k and v are laid out in the same way, v with
/// value_dim; they have kv_heads heads. Head h of q uses head h / (heads / kv_heads) of k and v.
struct AttentionProblem {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  std::int64_t q_stride = 0, k_stride = 0, v_stride = 0;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;  ///< must divide heads; 0: the same as heads
  std::int64_t head_dim = 0, value_dim = 0;
  float scale = 1.f;
  float cap = 0.f;           ///< above 0: a scaled score s becomes cap · tanh(s / cap), before bias and mask
  bool causal = false;       ///< query i attends only to the keys j <= i of its segment
  std::int64_t window = -1;  ///< query i attends only to the keys j with |i - j| <= window; -1: no limit
  std::span<const AttentionSegment> segments;
  AttentionMatrix<std::int8_t> allowed;  ///< 0: the query must not attend to the key
  AttentionMatrix<float> bias;           ///< added to the scaled scores
  DropoutRate dropout;                   ///< on the attention weights
  PhiloxKey key;                         ///< of the random numbers for dropout

  /// The number of query heads that share a head of k and v.
  std::int64_t group() const { return kv_heads > 0 ? heads / kv_heads : 1; }
};

/// Writes row r of head h, value_dim floats, to out + r * out_stride + h * value_dim. A query whose keys are all masked
/// gives zeros. logsumexp [query rows, heads] of the masked and scaled scores is needed by the backward pass; may be
/// null.
void attention_forward(const AttentionProblem& problem, float* out, std::int64_t out_stride, float* logsumexp);

/// The gradients to compute, laid out as q, k, v and the bias. A null pointer means that it is not needed. dq, dk and
/// dv are overwritten, or added to if their flag is set. dbias is always added to.
struct AttentionGradients {
  float* dq = nullptr;
  float* dk = nullptr;
  float* dv = nullptr;
  std::int64_t dq_stride = 0, dk_stride = 0, dv_stride = 0;
  bool add_dq = false, add_dk = false, add_dv = false;
  float* dbias = nullptr;
};

/// out and logsumexp are the results of the forward pass. dout is laid out as out. Only rows that belong to a segment
/// are written. The result does not depend on the number of threads.
void attention_backward(const AttentionProblem& problem, const float* out, const float* dout, std::int64_t out_stride,
                        const float* logsumexp, const AttentionGradients& gradients);

/// The attention weights before dropout: weights [segments, heads, T, S], zero where masked. T and S are at least the
/// maximum q_rows and k_rows. v is not used.
void attention_weights(const AttentionProblem& problem, std::int64_t T, std::int64_t S, float* weights);

}  // namespace attend::kernels
