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

/// The columns of an input that hold q, k or v: a matrix [rows, heads · width].
struct Columns {
  Tensor tensor;
  std::size_t input;  ///< index among the inputs of the op
  std::int64_t offset, stride;
  float* in(const Tensor& other) const { return other.data() + offset; }
};

/// Converts a mask or bias, with one element for each query and key, to the form that the kernels take.
template <typename T>
kernels::AttentionMatrix<T> score_matrix(const Tensor& x) {
  const std::int64_t heads = x.rank() == 4 ? x.dim(1) : 1, matrix = x.dim(-2) * x.dim(-1);
  const bool by_batch = x.rank() > 2 && x.dim(0) > 1;
  return {x.data<T>(), by_batch ? heads * matrix : 0, heads > 1 ? matrix : 0, x.dim(-1)};
}

/// The arguments of one call, as the forward pass, the backward pass and attention_weights need them.
struct Call {
  const char* op;
  std::int64_t B, T, S, H, KV, D, E;
  Columns q, k, v;
  AttentionOptions options;
  PhiloxKey key{};

  void check() const {
    for (const Columns* part : {&q, &k, &v}) check_float(op, "an input", part->tensor);
    if (!(options.cap >= 0.f)) fail(op, "the cap of the scores is ", options.cap, ", expected 0 or more");
    if (!(options.dropout >= 0.f && options.dropout <= 1.f))
      fail(op, "the dropout probability is out of range: got ", options.dropout, ", expected 0 to 1");
    options.mask.check(op, B, H, T, S);
    if (options.bias.defined()) check_bias();
  }

  void check_bias() const {
    const Tensor& bias = options.bias;
    check_float(op, "bias", bias);
    if (options.mask.packed_lengths().empty()) return check_score_matrix(op, "bias", bias, B, H, T, S);
    const std::int64_t longest = std::ranges::max(options.mask.packed_lengths());
    if (bias.rank() < 2 || bias.dim(-2) < longest || bias.dim(-1) < longest)
      fail(op, "the bias does not cover the longest of the packed sequences: got ", bias.shape(), ", expected ",
           Shape{1, H, longest, longest});
    check_score_matrix(op, "bias", bias, 1, H, bias.dim(-2), bias.dim(-1));
  }

  std::int64_t keys_of(std::int64_t b) const {
    return options.mask.lengths().empty() ? S : options.mask.lengths()[static_cast<std::size_t>(b)];
  }

  std::vector<kernels::AttentionSegment> segments() const {
    std::vector<kernels::AttentionSegment> list;
    if (const std::vector<std::int64_t>& lengths = options.mask.packed_lengths(); !lengths.empty()) {
      for (std::int64_t begin = 0; const std::int64_t rows : lengths) {
        list.push_back({begin, rows, begin, rows});
        begin += rows;
      }
      return list;
    }
    for (std::int64_t b = 0; b < B; ++b) list.push_back({b * T, T, b * S, keys_of(b)});
    return list;
  }

  kernels::AttentionProblem problem(std::span<const kernels::AttentionSegment> segments) const {
    kernels::AttentionProblem p;
    p.q = q.in(q.tensor), p.k = k.in(k.tensor), p.v = v.in(v.tensor);
    p.q_stride = q.stride, p.k_stride = k.stride, p.v_stride = v.stride;
    p.heads = H, p.kv_heads = KV, p.head_dim = D, p.value_dim = E;
    p.scale = options.scale.value_or(1.f / std::sqrt(static_cast<float>(std::max<std::int64_t>(D, 1))));
    p.cap = options.cap;
    p.causal = options.mask.is_causal(), p.window = options.mask.window_distance();
    p.segments = segments;
    if (const Tensor& matrix = options.mask.matrix(); matrix.defined()) p.allowed = score_matrix<std::int8_t>(matrix);
    if (options.bias.defined()) p.bias = score_matrix<float>(options.bias);
    if (options.dropout > 0.f) p.dropout = kernels::DropoutRate(options.dropout);
    p.key = key;
    return p;
  }
};

/// Sets the gradient of padding keys to zero. The kernel does not write it, because these keys are in no segment.
void zero_padding(const Call& call, float* gradient, std::int64_t stride, std::int64_t width) {
  for (std::int64_t b = 0; b < call.B; ++b)
    for (std::int64_t j = call.keys_of(b); j < call.S; ++j)
      std::fill_n(gradient + (b * call.S + j) * stride, width, 0.f);
}

/// `inputs` are the tensors that hold q, k and v, each listed once.
Tensor run(Call call, const Shape& result, std::vector<Tensor> inputs) {
  call.check();
  if (!training()) call.options.dropout = 0.f;
  if (call.options.dropout > 0.f) call.key = default_generator().next();
  const std::size_t bias_input = inputs.size();
  inputs.push_back(call.options.bias);
  const bool keep = recording() && std::ranges::any_of(inputs, [](const Tensor& input) {
                      return input.defined() && requires_grad(input);
                    });
  Tensor out = Tensor::empty(result);
  Tensor logsumexp = keep ? Tensor::empty({call.B * call.T, call.H}) : Tensor();
  const std::int64_t out_stride = call.H * call.E;
  const auto segments = call.segments();
  kernels::attention_forward(call.problem(segments), out.data(), out_stride, keep ? logsumexp.data() : nullptr);
  if (!keep) return out;

  for (Columns* part : {&call.q, &call.k, &call.v}) part->tensor = part->tensor.detach();
  if (call.options.bias.defined()) call.options.bias = call.options.bias.detach();
  const auto go_back = [call, bias_input, out_stride, logsumexp, out = out.detach()](const Tensor& dy, Grads& grads) {
    std::vector<Grads::Target> targets(bias_input);
    for (std::size_t input = 0; input < bias_input; ++input)
      if (grads.wants(input)) targets[input] = grads.target(input);

    kernels::AttentionGradients g;
    const auto place = [&](const Columns& part, float*& gradient, std::int64_t& stride, bool& add) {
      const Grads::Target& target = targets[part.input];
      if (target.tensor.defined()) gradient = part.in(target.tensor), stride = part.stride, add = target.accumulate;
    };
    place(call.q, g.dq, g.dq_stride, g.add_dq);
    place(call.k, g.dk, g.dk_stride, g.add_dk);
    place(call.v, g.dv, g.dv_stride, g.add_dv);
    if (g.dk && !g.add_dk) zero_padding(call, g.dk, g.dk_stride, call.KV * call.D);
    if (g.dv && !g.add_dv) zero_padding(call, g.dv, g.dv_stride, call.KV * call.E);
    if (grads.wants(bias_input)) g.dbias = grads.sum(bias_input).data();
    const auto segments = call.segments();
    kernels::attention_backward(call.problem(segments), out.data(), dy.data(), out_stride, logsumexp.data(), g);
  };
  return record(call.op, out, inputs, go_back);
}

Tensor run_weights(const Call& call) {
  call.check();
  const auto segments = call.segments();
  std::int64_t T = call.T, S = call.S;
  if (const std::vector<std::int64_t>& lengths = call.options.mask.packed_lengths(); !lengths.empty())
    T = S = std::ranges::max(lengths);
  Tensor weights = Tensor::empty({static_cast<std::int64_t>(segments.size()), call.H, T, S});
  kernels::attention_weights(call.problem(segments), T, S, weights.data());
  return weights;
}

Call separate(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q.dim(0) == k.dim(0) && k.dim(0) == v.dim(0) &&
                    k.dim(1) == v.dim(1) && k.dim(2) == v.dim(2) && q.dim(3) == k.dim(3) &&
                    (q.dim(2) == k.dim(2) || (k.dim(2) > 0 && q.dim(2) % k.dim(2) == 0)) &&
                    (options.kv_heads == 0 || options.kv_heads == k.dim(2));
  if (!fits)
    fail(op, "queries, keys and values do not fit: got q ", q.shape(), ", k ", k.shape(), ", v ", v.shape(),
         ", expected [B, T, H, D], [B, S, KV, D], [B, S, KV, E], where KV divides H");
  const std::int64_t H = q.dim(2), KV = k.dim(2), D = q.dim(3), E = v.dim(3);
  return {.op = op,
          .B = q.dim(0),
          .T = q.dim(1),
          .S = k.dim(1),
          .H = H,
          .KV = KV,
          .D = D,
          .E = E,
          .q = {q, 0, 0, H * D},
          .k = {k, 1, 0, KV * D},
          .v = {v, 2, 0, KV * E},
          .options = options};
}

/// The number of key and value heads, or 0 if it does not divide the number of query heads.
std::int64_t kv_heads(std::int64_t heads, const AttentionOptions& options) {
  const std::int64_t kv = options.kv_heads == 0 ? heads : options.kv_heads;
  return heads >= 1 && kv >= 1 && heads % kv == 0 ? kv : 0;
}

Call packed_self(const char* op, const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  const std::int64_t KV = kv_heads(heads, options);
  if (KV == 0 || qkv.rank() != 3 || qkv.dim(2) % (heads + 2 * KV) != 0)
    fail(op, "the rows do not have the size of q, k and v: got ", qkv.shape(), " for ", heads, " heads and kv_heads ",
         options.kv_heads, ", expected [B, T, (H + 2·KV)·D]");
  const std::int64_t T = qkv.dim(1), row = qkv.dim(2), D = row / (heads + 2 * KV);
  return {.op = op,
          .B = qkv.dim(0),
          .T = T,
          .S = T,
          .H = heads,
          .KV = KV,
          .D = D,
          .E = D,
          .q = {qkv, 0, 0, row},
          .k = {qkv, 0, heads * D, row},
          .v = {qkv, 0, (heads + KV) * D, row},
          .options = options};
}

Call packed_cross(const char* op, const Tensor& q, const Tensor& kv, std::int64_t heads,
                  const AttentionOptions& options) {
  const std::int64_t KV = kv_heads(heads, options);
  const bool fits = KV > 0 && q.rank() == 3 && kv.rank() == 3 && q.dim(0) == kv.dim(0) && q.dim(2) % heads == 0 &&
                    kv.dim(2) == 2 * KV * (q.dim(2) / heads);
  if (!fits)
    fail(op, "queries, keys and values do not fit: got q ", q.shape(), " and kv ", kv.shape(), " for ", heads,
         " heads and kv_heads ", options.kv_heads, ", expected [B, T, H·D] and [B, S, 2·KV·D]");
  const std::int64_t D = q.dim(2) / heads, half = KV * D;
  return {.op = op,
          .B = q.dim(0),
          .T = q.dim(1),
          .S = kv.dim(1),
          .H = heads,
          .KV = KV,
          .D = D,
          .E = D,
          .q = {q, 0, 0, heads * D},
          .k = {kv, 1, 0, 2 * half},
          .v = {kv, 1, half, 2 * half},
          .options = options};
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
