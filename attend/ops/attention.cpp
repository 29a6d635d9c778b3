#include "attend/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/kernels/attention.h"
#include "attend/ops/check.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// A matrix [rows, heads · width] that may be some of the columns of a wider tensor.
struct Columns {
  Tensor tensor;
  std::int64_t offset, stride;
  float* in(const Tensor& other) const { return other.data() + offset; }
};

/// Everything that forward, backward and weights share.
struct Call {
  const char* op;
  std::int64_t B, T, S, H, D, E;
  Columns q, k, v;
  AttentionOptions options;
  PhiloxKey key{};

  void check() const {
    for (const Columns* part : {&q, &k, &v}) check_float(op, "an input", part->tensor);
    if (!(options.dropout >= 0.f && options.dropout <= 1.f))
      fail(op, "dropout is a probability: got ", options.dropout, ", expected 0 to 1");
    options.mask.check(op, B, H, T, S);
  }

  std::int64_t keys_of(std::int64_t b) const {
    return options.mask.lengths().empty() ? S : options.mask.lengths()[static_cast<std::size_t>(b)];
  }

  std::vector<kernels::AttentionSegment> segments() const {
    std::vector<kernels::AttentionSegment> list;
    const std::vector<std::int64_t>& positions = options.mask.positions();
    if (const std::vector<std::int64_t>& texts = options.mask.texts(); !texts.empty()) {
      for (std::int64_t begin = 0; const std::int64_t rows : texts) {
        list.push_back({begin, rows, begin, rows, 0});
        begin += rows;
      }
      return list;
    }
    for (std::int64_t b = 0; b < B; ++b)
      list.push_back({b * T, T, b * S, keys_of(b), positions.empty() ? 0 : positions[static_cast<std::size_t>(b)]});
    return list;
  }

  kernels::AttentionProblem problem(std::span<const kernels::AttentionSegment> segments) const {
    kernels::AttentionProblem p;
    p.q = q.in(q.tensor), p.k = k.in(k.tensor), p.v = v.in(v.tensor);
    p.q_stride = q.stride, p.k_stride = k.stride, p.v_stride = v.stride;
    p.heads = H, p.head_dim = D, p.value_dim = E;
    p.scale = options.scale.value_or(1.f / std::sqrt(static_cast<float>(std::max<std::int64_t>(D, 1))));
    p.causal = options.mask.is_causal();
    p.segments = segments;
    if (const Tensor& matrix = options.mask.matrix(); matrix.defined()) {
      if (matrix.dtype() == DType::i8)
        p.matrix.allowed = matrix.data<std::int8_t>();
      else
        p.matrix.bias = matrix.data();
      const bool by_head = matrix.rank() == 4 && matrix.dim(1) > 1, by_batch = matrix.rank() > 2 && matrix.dim(0) > 1;
      p.matrix.row_stride = S;
      p.matrix.head_stride = by_head ? T * S : 0;
      p.matrix.segment_stride = by_batch ? (by_head ? H : 1) * T * S : 0;
    }
    if (options.dropout > 0.f) p.dropout = kernels::DropoutRate(options.dropout);
    p.key = key;
    return p;
  }
};

/// Keys beyond a sequence's length belong to no segment: their gradient is zero.
void zero_padding(const Call& call, float* gradient, std::int64_t stride, std::int64_t width) {
  for (std::int64_t b = 0; b < call.B; ++b)
    for (std::int64_t j = call.keys_of(b); j < call.S; ++j)
      std::fill_n(gradient + (b * call.S + j) * stride, width, 0.f);
}

/// `inputs` are the tensors of q, k, v without repetition of one that holds several parts.
Tensor run(Call call, const Shape& result, const std::vector<Tensor>& inputs) {
  call.check();
  if (!training()) call.options.dropout = 0.f;
  if (call.options.dropout > 0.f) call.key = default_generator().next();
  const bool keep = recording() && std::any_of(inputs.begin(), inputs.end(), requires_grad);
  Tensor out = Tensor::empty(result);
  Tensor logsumexp = keep ? Tensor::empty({call.B * call.T, call.H}) : Tensor();
  const std::int64_t out_stride = call.H * call.E;
  const auto segments = call.segments();
  kernels::attention_forward(call.problem(segments), out.data(), out_stride, keep ? logsumexp.data() : nullptr);
  if (!keep) return out;

  for (Columns* part : {&call.q, &call.k, &call.v}) part->tensor = part->tensor.detach();
  const std::size_t last = inputs.size() - 1;  // where v is; k is there too when they are packed
  const auto go_back = [call, last, out_stride, logsumexp, out = out.detach()](const Tensor& dy, Grads& grads) {
    const std::size_t k_input = last == 2 ? 1 : last;
    std::vector<Grads::Target> targets(last + 1);
    for (std::size_t input = 0; input <= last; ++input)
      if (grads.wants(input)) targets[input] = grads.target(input);

    kernels::AttentionGradients g;
    const auto place = [&](std::size_t input, const Columns& part, float*& gradient, std::int64_t& stride, bool& add) {
      const Grads::Target& target = targets[input];
      if (target.tensor.defined()) gradient = part.in(target.tensor), stride = part.stride, add = target.accumulate;
    };
    place(0, call.q, g.dq, g.dq_stride, g.add_dq);
    place(k_input, call.k, g.dk, g.dk_stride, g.add_dk);
    place(last, call.v, g.dv, g.dv_stride, g.add_dv);
    if (g.dk && !g.add_dk) zero_padding(call, g.dk, g.dk_stride, call.H * call.D);
    if (g.dv && !g.add_dv) zero_padding(call, g.dv, g.dv_stride, call.H * call.E);
    const auto segments = call.segments();
    kernels::attention_backward(call.problem(segments), out.data(), dy.data(), out_stride, logsumexp.data(), g);
  };
  return record(call.op, out, inputs, go_back);
}

Tensor run_weights(const Call& call) {
  call.check();
  const auto segments = call.segments();
  std::int64_t T = call.T, S = call.S;
  if (const std::vector<std::int64_t>& texts = call.options.mask.texts(); !texts.empty())
    T = S = std::ranges::max(texts);
  Tensor weights = Tensor::empty({static_cast<std::int64_t>(segments.size()), call.H, T, S});
  kernels::attention_weights(call.problem(segments), T, S, weights.data());
  return weights;
}

Call separate(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q.dim(0) == k.dim(0) && k.dim(0) == v.dim(0) &&
                    k.dim(1) == v.dim(1) && q.dim(2) == k.dim(2) && k.dim(2) == v.dim(2) && q.dim(3) == k.dim(3);
  if (!fits)
    fail(op, "queries, keys and values do not fit: got q ", q.shape(), ", k ", k.shape(), ", v ", v.shape(),
         ", expected [B, T, H, D], [B, S, H, D], [B, S, H, E]");
  const std::int64_t H = q.dim(2), D = q.dim(3), E = v.dim(3);
  return {op, q.dim(0), q.dim(1), k.dim(1), H, D, E, {q, 0, H * D}, {k, 0, H * D}, {v, 0, H * E}, options};
}

Call packed_self(const char* op, const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  if (qkv.rank() != 3 || heads < 1 || qkv.dim(2) % (3 * heads) != 0)
    fail(op, "a row holds the heads of q, k and v: got ", qkv.shape(), " for ", heads,
         " heads, expected [B, T, 3·H·D]");
  const std::int64_t B = qkv.dim(0), T = qkv.dim(1), row = qkv.dim(2), width = row / 3, D = width / heads;
  return {op, B, T, T, heads, D, D, {qkv, 0, row}, {qkv, width, row}, {qkv, 2 * width, row}, options};
}

Call packed_cross(const char* op, const Tensor& q, const Tensor& kv, std::int64_t heads,
                  const AttentionOptions& options) {
  const bool fits = q.rank() == 3 && kv.rank() == 3 && heads >= 1 && q.dim(0) == kv.dim(0) && q.dim(2) % heads == 0 &&
                    kv.dim(2) == 2 * q.dim(2);
  if (!fits)
    fail(op, "queries, and keys with values, do not fit: got q ", q.shape(), " and kv ", kv.shape(), " for ", heads,
         " heads, expected [B, T, H·D] and [B, S, 2·H·D]");
  const std::int64_t width = q.dim(2), D = width / heads;
  return {op,     q.dim(0), q.dim(1), kv.dim(1), heads, D, D, {q, 0, width}, {kv, 0, 2 * width}, {kv, width, 2 * width},
          options};
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const Call call = separate("attention", q, k, v, options);
  return run(call, {call.B, call.T, call.H, call.E}, {q, k, v});
}

Tensor self_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  const Call call = packed_self("self_attention", qkv, heads, options);
  return run(call, {call.B, call.T, call.H * call.D}, {qkv});
}

Tensor cross_attention(const Tensor& q, const Tensor& kv, std::int64_t heads, const AttentionOptions& options) {
  return run(packed_cross("cross_attention", q, kv, heads, options), q.shape(), {q, kv});
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  return run_weights(separate("attention_weights", q, k, k, options));
}

Tensor self_attention_weights(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  return run_weights(packed_self("self_attention_weights", qkv, heads, options));
}

Tensor cross_attention_weights(const Tensor& q, const Tensor& kv, std::int64_t heads, const AttentionOptions& options) {
  return run_weights(packed_cross("cross_attention_weights", q, kv, heads, options));
}

}  // namespace attend
