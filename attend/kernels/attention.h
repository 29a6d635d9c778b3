// Fused attention, softmax(scale · Q Kᵀ + bias) V for each head, in tiles with an online softmax (Dao et al. 2022,
// "FlashAttention"). The [T, S] matrix is never in memory; the backward pass computes its tiles again. What a causal or
// length mask hides is not computed at all.
#pragma once
#include <cstdint>
#include <span>

#include "attend/core/random.h"
#include "attend/kernels/dropout_rate.h"

namespace attend::kernels {

/// One sequence: its rows in q and out, and its rows in k and v. Padded batches, packed sequences and key-value caches
/// are all lists of segments; the number of keys is k_rows. Segments share no rows of q, and none of k when gradients
/// are computed.
struct AttentionSegment {
  std::int64_t q_begin = 0, q_rows = 0;
  std::int64_t k_begin = 0, k_rows = 0;
  std::int64_t first_position = 0;  ///< causal: query i sees the keys j <= first_position + i
};

/// A matrix with an element for each query and key; not used when `data` is null. Element (segment, head, query, key)
/// is at segment * segment_stride + head * head_stride + query * row_stride + key. A stride of 0 repeats the matrix for
/// all segments or heads.
template <typename T>
struct AttentionMatrix {
  const T* data = nullptr;
  std::int64_t segment_stride = 0, head_stride = 0, row_stride = 0;

  std::int64_t offset(std::int64_t segment, std::int64_t head, std::int64_t query) const {
    return segment * segment_stride + head * head_stride + query * row_stride;
  }
};

/// Row r of head h of q begins at q + r * q_stride + h * head_dim. There are kv_heads heads of k and v, and head h of q
/// reads head h / (heads / kv_heads) of them; their rows are laid out as those of q, those of v with value_dim.
struct AttentionProblem {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  std::int64_t q_stride = 0, k_stride = 0, v_stride = 0;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;  ///< must divide heads; 0: as many as heads
  std::int64_t head_dim = 0, value_dim = 0;
  float scale = 1.f;
  bool causal = false;
  std::span<const AttentionSegment> segments;
  AttentionMatrix<std::int8_t> allowed;  ///< 0 hides
  AttentionMatrix<float> bias;           ///< added to the scaled score; -infinity hides
  DropoutRate dropout;                   ///< of the weights, after the softmax
  PhiloxKey key;                         ///< of dropout's random numbers

  /// Query heads that share a head of k and v.
  std::int64_t group() const { return kv_heads > 0 ? heads / kv_heads : 1; }
};

/// out[r, h] [value_dim] at out + r * out_stride + h * value_dim; zeros for a query that sees nothing.
/// logsumexp [query rows, heads], of the masked and scaled scores, is what the backward pass needs; may be null.
void attention_forward(const AttentionProblem& problem, float* out, std::int64_t out_stride, float* logsumexp);

/// Where gradients go, laid out as q, k, v and the bias are; null: not wanted. With add they are added to what is
/// there. dbias is always added to, so it begins with zeros.
struct AttentionGradients {
  float* dq = nullptr;
  float* dk = nullptr;
  float* dv = nullptr;
  std::int64_t dq_stride = 0, dk_stride = 0, dv_stride = 0;
  bool add_dq = false, add_dk = false, add_dv = false;
  float* dbias = nullptr;
};

/// out, logsumexp: of the forward pass. dout is laid out as out. Only rows that belong to a segment are written. The
/// result does not depend on the number of threads.
void attention_backward(const AttentionProblem& problem, const float* out, const float* dout, std::int64_t out_stride,
                        const float* logsumexp, const AttentionGradients& gradients);

/// The softmax itself, before dropout: weights [segments, heads, T, S], zeros where nothing is seen, where T and S are
/// at least the longest q_rows and k_rows. v is not used.
void attention_weights(const AttentionProblem& problem, std::int64_t T, std::int64_t S, float* weights);

}  // namespace attend::kernels
