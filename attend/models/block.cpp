#include "attend/models/block.h"

#include "attend/core/error.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"
#include "attend/ops/recompute.h"

namespace attend {
namespace {

MultiHeadAttention attention_of(const BlockOptions& o, std::int64_t kv_heads, Generator& generator) {
  return MultiHeadAttention({.width = o.width,
                             .heads = o.heads,
                             .kv_heads = kv_heads,
                             .head_dim = o.head_dim,
                             .bias = o.bias,
                             .scale = o.scale,
                             .dropout = o.attention_dropout},
                            generator);
}

FeedForward feed_forward_of(const BlockOptions& o, Generator& generator) {
  FeedForward network({.width = o.width,
                       .inner = o.inner,
                       .activation = o.activation,
                       .gated = o.gated,
                       .bias = o.bias,
                       .dropout = o.activation_dropout},
                      generator);
  for (Linear* part : {&network.gate, &network.up, &network.down}) {
    if (part->defined()) init::xavier_uniform(part->weight, 1.f, generator);
    if (part->bias.defined()) part->bias.fill(0.f);
  }
  return network;
}

}  // namespace

TransformerBlock::TransformerBlock(const BlockOptions& o, const BlockNames& block_names, Generator& generator)
    : self_attention(attention_of(o, o.kv_heads, generator)),
      cross_attention(o.cross ? attention_of(o, 0, generator) : MultiHeadAttention()),
      feed_forward(feed_forward_of(o, generator)),
      self_norm(o.width, o.norm),
      cross_norm(o.cross ? Norm(o.width, o.norm) : Norm()),
      feed_forward_norm(o.width, o.norm),
      pre_norm(o.pre_norm),
      causal(o.causal),
      parallel(o.parallel),
      rotates(o.rotates),
      window(o.window),
      dropout(o.dropout),
      feed_forward_dropout(o.feed_forward_dropout.value_or(o.dropout)),
      names(&block_names) {
  self_attention.rotary = o.rotary, self_attention.cap = o.score_cap;
  if (o.output_norm) self_output_norm = Norm(o.width, o.norm), feed_forward_output_norm = Norm(o.width, o.norm);
  if (!o.head_norm) return;
  NormOptions head = o.norm;
  head.kind = NormKind::rms_norm;
  const std::int64_t head_dim = self_attention.query.out() / o.heads;
  self_attention.query_norm = Norm(head_dim, head), self_attention.key_norm = Norm(head_dim, head);
}

Tensor TransformerBlock::self_attend(const Tensor& x, std::size_t index, const BlockPass& pass) const {
  Mask mask = causal ? pass.mask & Mask::causal() : pass.mask;
  if (window >= 0) mask = mask & Mask::window(window);
  const AttentionPass how{.mask = mask,
                          .bias = pass.bias,
                          .positions = pass.positions,
                          .rotary = rotates ? pass.rotary : RotaryTable(),
                          .probe = pass.probe};
  if (!pass.cache) return self_attention(x, x, x, how);
  if (pass.lengths.empty()) return self_attention.step(*pass.cache, index, x, how);
  return self_attention.begin(*pass.cache, index, x, pass.lengths, how);
}

Tensor TransformerBlock::cross_attend(const Tensor& x, std::size_t index, const BlockPass& pass) const {
  if (pass.states_cache) return cross_attention.over(*pass.states_cache, index, x, {.probe = pass.probe});
  return cross_attention(x, pass.states, pass.states, pass.states_mask, pass.probe);
}

AddNorm TransformerBlock::operator()(const AddNorm& x, const Norm* next, std::size_t index,
                                     const BlockPass& pass) const {
  const std::string place = pass.probe ? pass.probe->layer() : "";
  // Adds the output of a sub-layer to the residual and normalises the sum.
  const auto add = [this](const Tensor& residual, const Tensor& dropped, const Norm* norm) -> AddNorm {
    if (!norm) {
      const Tensor sum = dropped + residual;
      return {sum, sum};
    }
    AddNorm added = (*norm)(dropped, residual);
    if (!pre_norm) added.sum = added.normed;
    return added;
  };
  const auto normed = [](const Norm& norm, const Tensor& output) { return norm.defined() ? norm(output) : output; };
  const bool crosses = cross_attention.defined();
  if (pass.probe) pass.probe->enter(place + ".self");
  if (parallel) {
    const Tensor sum = add(x.sum, attend::dropout(self_attend(x.normed, index, pass), dropout), nullptr).sum;
    return add(sum, attend::dropout(feed_forward(feed_forward_norm(x.sum)), feed_forward_dropout), next);
  }
  const Norm* after_self = !pre_norm ? &self_norm : crosses ? &cross_norm : &feed_forward_norm;
  const Tensor attended = normed(self_output_norm, self_attend(x.normed, index, pass));
  AddNorm h = add(x.sum, attend::dropout(attended, dropout), after_self);
  if (crosses) {
    if (pass.probe) pass.probe->enter(place + ".cross");
    h = add(h.sum, attend::dropout(cross_attend(h.normed, index, pass), dropout),
            pre_norm ? &feed_forward_norm : &cross_norm);
  }
  const Tensor fed = normed(feed_forward_output_norm, feed_forward(h.normed));
  return add(h.sum, attend::dropout(fed, feed_forward_dropout), pre_norm ? next : &feed_forward_norm);
}

Tensor TransformerStack::operator()(const Tensor& x, const BlockPass& pass) const {
  const bool pre_norm = !blocks.empty() && blocks.front().pre_norm;
  const Norm* last = final_norm.defined() ? &final_norm : nullptr;
  AddNorm h{x, pre_norm && blocks.front().self_norm.defined() ? blocks.front().self_norm(x) : x};
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t n = 0, times = static_cast<std::size_t>(repeats); n < times; ++n) {
      if (pass.probe) pass.probe->enter(name + "." + std::to_string(i * times + n));
      const Norm* next = i + 1 < blocks.size() ? &blocks[i + 1].self_norm : last;
      if (!recomputing() || pass.probe) {
        h = blocks[i](h, next, i, pass);
        continue;
      }
      const Tensor inputs[] = {h.sum, h.normed, pass.states, pass.bias};
      std::vector<Tensor> results = recompute(inputs, [&block = blocks[i], h, next, i, pass] {
        const AddNorm out = block(h, next, i, pass);
        return std::vector<Tensor>{out.sum, out.normed};
      });
      h = {std::move(results[0]), std::move(results[1])};
    }
  return last && !pre_norm ? (*last)(h.sum) : h.normed;
}

void TransformerStack::place_neighbours() {
  for (TransformerBlock& block : blocks) {
    attend::place_neighbours(block.self_attention);
    if (block.cross_attention.defined()) attend::place_neighbours(block.cross_attention);
    attend::place_neighbours(block.feed_forward);
  }
}

void TransformerStack::set_dropout(float dropout, float attention_dropout) {
  for (TransformerBlock& block : blocks) {
    block.dropout = block.feed_forward_dropout = dropout;
    block.self_attention.dropout = block.cross_attention.dropout = attention_dropout;
  }
}

}  // namespace attend
