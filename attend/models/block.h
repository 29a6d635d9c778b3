// The Transformer block that every family uses, and a stack of blocks. A family chooses options and parameter names;
// the block runs padded, packed and cached, records attention, and applies dropout.
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
  std::int64_t kv_heads = 0;  ///< of keys and values in self-attention; 0: as many as heads
  std::int64_t head_dim = 0;  ///< 0: width / heads
  std::int64_t inner = 2048;  ///< width inside the feed-forward network
  Activation activation = Activation::relu;
  bool gated = false;  ///< feed-forward networks with a gate
  bool bias = true;    ///< in linear layers
  NormOptions norm = {};
  bool pre_norm = false;            ///< normalise the input of a sub-layer instead of the sum after it
  bool causal = false;              ///< self-attention sees no later tokens
  bool cross = false;               ///< there is cross-attention over an encoder's states
  std::optional<float> scale = {};  ///< of attention scores; 1 / √head_dim unless given
  RotaryTable rotary = {};          ///< positions of self-attention; undefined: none
  float dropout = 0.f;              ///< of the output of each sub-layer
  float attention_dropout = 0.f;    ///< of attention weights
  float activation_dropout = 0.f;   ///< inside the feed-forward network
};

/// How a family's folders name the parameters of a block. Empty names are of parts that the family does not have.
struct BlockNames {
  struct Attention {
    const char *query = "", *key = "", *value = "", *output = "", *norm = "";
  };
  Attention self = {}, cross = {};
  const char *up = "", *gate = "", *down = "", *feed_forward_norm = "";
};

/// One pass through the blocks of a stack: how the sequences lie in x, and what they may see.
struct BlockPass {
  // Padded x [B, T, width], or packed sequences as [1, sum of lengths, width] with Mask::packed:
  Mask mask = {};         ///< of self-attention, beside BlockOptions::causal
  Tensor states = {};     ///< an encoder's, [B, S, width], for cross-attention
  Mask states_mask = {};  ///< which of them are padding
  // Cached x [N, width], without gradients: one token for each row, or with `lengths` whole sequences, packed.
  KeyValueCache* cache = nullptr;
  const KeyValueCache* states_cache = nullptr;
  std::span<const std::int64_t> lengths = {};
  Tensor bias = {};        ///< on the scores of self-attention, as AttentionPass has it
  Tensor positions = {};   ///< of rotary positions, where x is cached: int32, of each row
  Probe* probe = nullptr;  ///< gets "PREFIX.0.self", "PREFIX.0.cross" …, PREFIX as the stack is called
};

/// Pre-norm blocks pass on the sum and its norm: the norm that follows a sum is one pass over memory with it. Post-norm
/// blocks have both the same.
struct TransformerBlock {
  MultiHeadAttention self_attention, cross_attention;
  FeedForward feed_forward;
  Norm self_norm, cross_norm, feed_forward_norm;
  bool pre_norm = false, causal = false;
  float dropout = 0.f;
  const BlockNames* names = nullptr;

  /// Matrices start by Xavier's rule, biases at 0. `names` must outlive the block.
  TransformerBlock(const BlockOptions& options, const BlockNames& names, Generator& generator);

  /// x -> the output of the block. Pre-norm, it is normalised by `next`, the norm that follows; null: by none.
  AddNorm operator()(const AddNorm& x, const Norm* next, std::size_t index, const BlockPass& pass) const;

  void visit(auto&& v) {
    const auto attention = [&](const BlockNames::Attention& name, MultiHeadAttention& part, Norm& norm) {
      v(name.query, part.query), v(name.key, part.key), v(name.value, part.value);
      v(name.output, part.output), v(name.norm, norm);
    };
    // Norms stand where the data meets them.
    attention(names->self, self_attention, self_norm);
    attention(names->cross, cross_attention, cross_norm);
    v(names->gate, feed_forward.gate), v(names->up, feed_forward.up), v(names->down, feed_forward.down);
    v(names->feed_forward_norm, feed_forward_norm);
  }

 private:
  Tensor self_attend(const Tensor& x, std::size_t index, const BlockPass& pass) const;
  Tensor cross_attend(const Tensor& x, std::size_t index, const BlockPass& pass) const;
};

struct TransformerStack {
  std::vector<TransformerBlock> blocks;
  Norm final_norm;   // after the last block; may be undefined
  std::string name;  // for the probe: "encoder", "decoder", "layers"

  /// x as BlockPass has it -> the states, of the same shape.
  Tensor operator()(const Tensor& x, const BlockPass& pass) const;

  /// Lets projections of one input be one product, as in a model that was not loaded.
  void place_neighbours();
  /// Of sub-layers and of attention weights.
  void set_dropout(float dropout, float attention_dropout);
};

}  // namespace attend
