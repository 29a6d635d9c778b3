// The Transformer block that all families share, and a stack of blocks. A family chooses the options and the parameter
// names. The block runs on padded batches, on packed sequences and with a key-value cache. It applies dropout and can
// record attention weights.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/multi_head.h"
#include "attend/nn/feed_forward.h"
#include "attend/nn/norm.h"

namespace attend {

struct BlockOptions {
  std::int64_t width = 512;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 0;  ///< key-value heads of self-attention; 0: the same as `heads`
  std::int64_t head_dim = 0;  ///< 0: width / heads
  std::int64_t inner = 2048;  ///< width inside the feed-forward network
  Activation activation = Activation::relu;
  bool gated = false;  ///< gated feed-forward networks (GLU)
  bool bias = true;    ///< linear layers have a bias
  NormOptions norm = {};
  bool head_norm = false;    ///< RMS norms of the queries and keys of each head in self-attention
  bool output_norm = false;  ///< with pre_norm: also normalise the output of each sub-layer, before the residual sum
  bool parallel = false;     ///< with pre_norm: both sub-layers read the input of the block
  float score_cap = 0.f;     ///< above 0: an attention score s becomes score_cap · tanh(s / score_cap)
  bool pre_norm = false;     ///< normalise the input of each sub-layer instead of the residual sum after it
  bool causal = false;       ///< causal self-attention
  bool cross = false;        ///< the block has cross-attention over the states of an encoder
  std::optional<float> scale = {};                 ///< factor of the attention scores; empty: 1 / √head_dim
  RotaryTable rotary = {};                         ///< rotary positions of self-attention; undefined: none
  bool rotates = false;                            ///< self-attention uses the rotary positions of BlockPass
  std::int64_t window = -1;                        ///< self-attention to tokens at this distance at most; -1: no limit
  float dropout = 0.f;                             ///< on the output of each sub-layer
  std::optional<float> feed_forward_dropout = {};  ///< on the output of the feed-forward network; empty: `dropout`
  float attention_dropout = 0.f;                   ///< on the attention weights
  float activation_dropout = 0.f;                  ///< on the activations inside the feed-forward network
};

/// The names of a block's parameters in the folders of a family. A name is empty if the family does not have the part.
struct BlockNames {
  struct Attention {
    const char *query = "", *key = "", *value = "", *output = "", *norm = "";
    const char *query_norm = "", *key_norm = "", *output_norm = "";
  };
  Attention self = {}, cross = {};
  const char *up = "", *gate = "", *down = "", *feed_forward_norm = "", *feed_forward_output_norm = "";
};

/// The arguments of one forward pass through a stack of blocks, besides the input x. There are two modes: without and
/// with a cache.
struct BlockPass {
  // Without a cache: x [B, T, width] is padded, or [1, sum of lengths, width] holds packed sequences (Mask::packed).
  Mask mask = {};         ///< of self-attention; combined with the causal mask if BlockOptions::causal is set
  Tensor states = {};     ///< [B, S, width], the encoder's output for cross-attention
  Mask states_mask = {};  ///< the padding mask of `states`
  // With a cache, and without gradients: x [N, width] holds one token of each of N sequences. If `lengths` is given, x
  // holds whole packed sequences, N tokens in total.
  KeyValueCache* cache = nullptr;               ///< of self-attention; the new keys and values are appended
  const KeyValueCache* states_cache = nullptr;  ///< of cross-attention
  std::span<const std::int64_t> lengths = {};
  Tensor bias = {};         ///< added to the scores of self-attention, see AttentionPass
  Tensor positions = {};    ///< int32 [N], the position of each token; needed for rotary positions with a cache
  RotaryTable rotary = {};  ///< of blocks with BlockOptions::rotates
  Probe* probe = nullptr;   ///< records the layers "NAME.0.self", "NAME.0.cross", …, where NAME is the stack's name
};

/// A block takes and returns a residual sum together with its norm. With pre-norm, adding the residual and applying the
/// next norm are one pass over memory. With post-norm, sum and norm are the same tensor.
struct TransformerBlock {
  MultiHeadAttention self_attention, cross_attention;
  FeedForward feed_forward;
  Norm self_norm, cross_norm, feed_forward_norm;    // the first block of a pre-norm stack may have no self_norm
  Norm self_output_norm, feed_forward_output_norm;  // with BlockOptions::output_norm
  bool pre_norm = false, causal = false, parallel = false, rotates = false;
  std::int64_t window = -1;
  float dropout = 0.f, feed_forward_dropout = 0.f;
  const BlockNames* names = nullptr;

  /// Initialises matrices by Xavier's rule and biases to 0. `names` must outlive the block.
  TransformerBlock(const BlockOptions& options, const BlockNames& names, Generator& generator);

  /// Runs the block with the given index. With pre-norm, the output is normalised by `next`, the norm that follows the
  /// block; null: it is not normalised.
  AddNorm operator()(const AddNorm& x, const Norm* next, std::size_t index, const BlockPass& pass) const;

  void visit(auto&& v) {
    const auto attention = [&](const BlockNames::Attention& name, MultiHeadAttention& part, Norm& norm) {
      v(name.query, part.query), v(name.key, part.key), v(name.value, part.value);
      v(name.output, part.output), v(name.norm, norm);
      v(name.query_norm, part.query_norm), v(name.key_norm, part.key_norm);
    };

    attention(names->self, self_attention, self_norm);
    attention(names->cross, cross_attention, cross_norm);
    v(names->gate, feed_forward.gate), v(names->up, feed_forward.up), v(names->down, feed_forward.down);
    v(names->feed_forward_norm, feed_forward_norm);
    v(names->self.output_norm, self_output_norm), v(names->feed_forward_output_norm, feed_forward_output_norm);
  }

 private:
  Tensor self_attend(const Tensor& x, std::size_t index, const BlockPass& pass) const;
  Tensor cross_attend(const Tensor& x, std::size_t index, const BlockPass& pass) const;
};

struct TransformerStack {
  std::vector<TransformerBlock> blocks;
  Norm final_norm;           // after the last block; may be undefined
  std::string name;          // prefix of layer names in a probe: "encoder", "decoder", "layers"
  std::int64_t repeats = 1;  // each block is this many layers in a row, which share its weights; needs post-norm

  /// Returns the output of the last block, of the same shape as x (see BlockPass). Inside a Recompute scope, only the
  /// inputs of the blocks are kept for the backward pass, until which the stack must not move.
  Tensor operator()(const Tensor& x, const BlockPass& pass) const;

  /// Copies the weights of projections that read the same input next to each other in memory, so that they run as one
  /// matrix product. A newly constructed stack has this layout; weights that were loaded may not.
  void place_neighbours();
  /// Sets the dropout of the sub-layers and of the attention weights of all blocks.
  void set_dropout(float dropout, float attention_dropout);
};

}  // namespace attend
