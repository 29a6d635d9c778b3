#include "attend/models/block.h"

#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"

namespace attend {
namespace {

MultiHeadAttention attention_of(const BlockOptions& o, Generator& generator) {
  return MultiHeadAttention({.width = o.width,
                             .heads = o.heads,
                             .head_dim = o.head_dim,
                             .bias = o.bias,
                             .scale = o.scale,
                             .dropout = o.attention_dropout},
                            generator);
}

FeedForward feed_forward_of(const BlockOptions& o, Generator& generator) {
  FeedForward layer(o.width, o.inner, o.activation, o.activation_dropout, generator);
  for (Linear* part : {&layer.up, &layer.down}) {
    init::xavier_uniform(part->weight, 1.f, generator);
    if (o.bias)
      part->bias.fill(0.f);
    else
      part->bias = {};
  }
  return layer;
}

}  // namespace

TransformerBlock::TransformerBlock(const BlockOptions& o, const BlockNames& block_names, Generator& generator)
    : self_attention(attention_of(o, generator)),
      cross_attention(o.cross ? attention_of(o, generator) : MultiHeadAttention()),
      feed_forward(feed_forward_of(o, generator)),
      self_norm(o.width, o.eps, o.bias),
      cross_norm(o.cross ? LayerNorm(o.width, o.eps, o.bias) : LayerNorm()),
      feed_forward_norm(o.width, o.eps, o.bias),
      pre_norm(o.pre_norm),
      causal(o.causal),
      dropout(o.dropout),
      names(&block_names) {}

Tensor TransformerBlock::self_attend(const Tensor& x, std::size_t index, const BlockPass& pass) const {
  if (!pass.cache) return self_attention(x, x, x, causal ? pass.mask & Mask::causal() : pass.mask, pass.probe);
  if (pass.lengths.empty()) return self_attention.step(*pass.cache, index, x, pass.probe);
  return self_attention.begin(*pass.cache, index, x, pass.lengths, pass.probe);
}

Tensor TransformerBlock::cross_attend(const Tensor& x, std::size_t index, const BlockPass& pass) const {
  if (pass.states_cache) return cross_attention.over(*pass.states_cache, index, x, pass.probe);
  return cross_attention(x, pass.states, pass.states, pass.states_mask, pass.probe);
}

AddNorm TransformerBlock::operator()(const AddNorm& x, const LayerNorm* next, std::size_t index,
                                     const BlockPass& pass) const {
  const std::string place = pass.probe ? pass.probe->layer() : "";
  // What is added to the residual, and the norm of the sum: before the next sub-layer, or after this one.
  const auto add = [&](const Tensor& residual, const Tensor& output, const LayerNorm* norm) -> AddNorm {
    const Tensor dropped = attend::dropout(output, dropout);
    if (!norm) {
      const Tensor sum = dropped + residual;
      return {sum, sum};
    }
    AddNorm added = (*norm)(dropped, residual);
    if (!pre_norm) added.sum = added.normed;
    return added;
  };
  const bool crosses = cross_attention.defined();
  if (pass.probe) pass.probe->enter(place + ".self");
  const LayerNorm* after_self = !pre_norm ? &self_norm : crosses ? &cross_norm : &feed_forward_norm;
  AddNorm h = add(x.sum, self_attend(x.normed, index, pass), after_self);
  if (crosses) {
    if (pass.probe) pass.probe->enter(place + ".cross");
    h = add(h.sum, cross_attend(h.normed, index, pass), pre_norm ? &feed_forward_norm : &cross_norm);
  }
  return add(h.sum, feed_forward(h.normed), pre_norm ? next : &feed_forward_norm);
}

Tensor TransformerStack::operator()(const Tensor& x, const BlockPass& pass) const {
  const bool pre_norm = !blocks.empty() && blocks.front().pre_norm;
  const LayerNorm* last = final_norm.defined() ? &final_norm : nullptr;
  AddNorm h{x, pre_norm ? blocks.front().self_norm(x) : x};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (pass.probe) pass.probe->enter(name + "." + std::to_string(i));
    h = blocks[i](h, i + 1 < blocks.size() ? &blocks[i + 1].self_norm : last, i, pass);
  }
  return last && !pre_norm ? (*last)(h.sum) : h.normed;
}

void TransformerStack::place_neighbours() {
  for (TransformerBlock& block : blocks) {
    attend::place_neighbours(block.self_attention);
    if (block.cross_attention.defined()) attend::place_neighbours(block.cross_attention);
  }
}

void TransformerStack::set_dropout(float dropout, float attention_dropout) {
  for (TransformerBlock& block : blocks) {
    block.dropout = dropout;
    block.self_attention.dropout = block.cross_attention.dropout = attention_dropout;
  }
}

}  // namespace attend
