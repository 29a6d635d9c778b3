#include "attend/kernels/convolution.h"

#include "attend/core/memory.h"
#include "attend/core/threads.h"
#include "attend/kernels/onednn.h"

namespace attend::kernels {
namespace {

using Memory = dnnl::memory;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

/// The layouts of the arrays: those of the caller, or with `any` those that oneDNN chooses.
struct Layouts {
  Desc x, weight, bias, y;
};
Layouts layouts(const ConvolutionShape& s, bool any) {
  constexpr auto f32 = Memory::data_type::f32;
  return {{{s.batch, s.in, s.in_h, s.in_w}, f32, any ? Tag::any : Tag::abcd},
          {{s.groups, s.out / s.groups, s.in / s.groups, s.kernel_h, s.kernel_w}, f32, any ? Tag::any : Tag::abcde},
          {{s.out}, f32, Tag::a},
          {{s.batch, s.out, s.out_h(), s.out_w()}, f32, any ? Tag::any : Tag::abcd}};
}

/// One argument of a convolution: the caller's array, and a copy in the layout of the primitive if that differs. The
/// copy only exists during a call, because many plans are cached.
struct Argument {
  Memory plain, own;
  bool copied;
  dnnl::reorder to_own, to_plain;
  Block copy;

  Argument(const Desc& plain_desc, const Desc& own_desc)
      : plain(plain_desc, onednn_engine(), nullptr),
        own(plain_desc == own_desc ? plain : Memory(own_desc, onednn_engine(), nullptr)),
        copied(plain_desc != own_desc) {
    if (copied) to_own = dnnl::reorder(plain, own), to_plain = dnnl::reorder(own, plain);
  }
  void bind(const float* data) {
    plain.set_data_handle(const_cast<float*>(data));
    if (!copied) return;
    copy = allocate(own.get_desc().get_size());
    own.set_data_handle(copy.get());
  }
  void read() {
    if (copied) to_own.execute(onednn_stream(), plain, own);
  }
  void write() {
    if (copied) to_plain.execute(onednn_stream(), own, plain);
  }
};

struct Geometry {
  Memory::dims strides, dilations, padding;
  explicit Geometry(const ConvolutionShape& s)
      : strides{s.stride_h, s.stride_w},
        dilations{s.dilation_h - 1, s.dilation_w - 1},
        padding{s.padding_h, s.padding_w} {}
};

dnnl::convolution_forward::primitive_desc forward_plan(const ConvolutionShape& s, bool with_bias) {
  const Layouts l = layouts(s, true);
  const Geometry g(s);
  constexpr auto kind = dnnl::prop_kind::forward_training;
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
  if (with_bias)
    return onednn_plan<dnnl::convolution_forward>({}, kind, algorithm, l.x, l.weight, l.bias, l.y, g.strides,
                                                  g.dilations, g.padding, g.padding);
  return onednn_plan<dnnl::convolution_forward>({}, kind, algorithm, l.x, l.weight, l.y, g.strides, g.dilations,
                                                g.padding, g.padding);
}

/// oneDNN needs the forward plan as a hint for a backward plan.
template <typename Primitive, typename... Args>
typename Primitive::primitive_desc backward_plan(const dnnl::convolution_forward::primitive_desc& hint,
                                                 const Args&... args) {
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(onednn_engine(), algorithm, args..., hint);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(algorithm, args...), onednn_engine(), hint);
#endif
}

/// What a plan computes: y, dx or dweight.
enum class Direction : std::int64_t { forward, input, weight };

struct Plan {
  dnnl::primitive primitive;
  Argument x, weight, y;
  Memory bias;

  void bind(const float* x_data, const float* weight_data, const float* y_data, const float* bias_data) {
    x.bind(x_data), weight.bind(weight_data), y.bind(y_data);
    if (bias_data) bias.set_data_handle(const_cast<float*>(bias_data));
  }
  void finish() {
    onednn_stream().wait();
    x.copy.reset(), weight.copy.reset(), y.copy.reset();
  }
};

Plan make_plan(const ConvolutionShape& s, Direction direction, bool with_bias) {
  const Layouts plain = layouts(s, false), any = layouts(s, true);
  const Geometry g(s);
  const Memory bias = with_bias ? Memory(plain.bias, onednn_engine(), nullptr) : Memory();
  const auto forward = forward_plan(s, with_bias);
  if (direction == Direction::forward)
    return {dnnl::convolution_forward(forward),
            {plain.x, forward.src_desc()},
            {plain.weight, forward.weights_desc()},
            {plain.y, forward.dst_desc()},
            bias};
  if (direction == Direction::input) {
    const auto plan = backward_plan<dnnl::convolution_backward_data>(forward, any.x, any.weight, any.y, g.strides,
                                                                     g.dilations, g.padding, g.padding);
    return {dnnl::convolution_backward_data(plan),
            {plain.x, plan.diff_src_desc()},
            {plain.weight, plan.weights_desc()},
            {plain.y, plan.diff_dst_desc()},
            bias};
  }
  const auto plan = with_bias
                        ? backward_plan<dnnl::convolution_backward_weights>(
                              forward, any.x, any.weight, any.bias, any.y, g.strides, g.dilations, g.padding, g.padding)
                        : backward_plan<dnnl::convolution_backward_weights>(
                              forward, any.x, any.weight, any.y, g.strides, g.dilations, g.padding, g.padding);
  return {dnnl::convolution_backward_weights(plan),
          {plain.x, plan.src_desc()},
          {plain.weight, plan.diff_weights_desc()},
          {plain.y, plan.diff_dst_desc()},
          bias};
}

Plan& plan_for(const ConvolutionShape& s, Direction direction, bool with_bias) {
  const PlanKey<16> key{{s.batch, s.in, s.out, s.in_h, s.in_w, s.kernel_h, s.kernel_w, s.stride_h, s.stride_w,
                         s.padding_h, s.padding_w, s.dilation_h, s.dilation_w, s.groups,
                         static_cast<std::int64_t>(direction) << 1 | std::int64_t{with_bias}, threads()}};
  return kept_plan<Plan>(key, [&] { return make_plan(s, direction, with_bias); });
}

}  // namespace

void convolution(const ConvolutionShape& shape, const float* x, const float* weight, const float* bias, float* y) {
  with_onednn("convolution", [&] {
    Plan& plan = plan_for(shape, Direction::forward, bias != nullptr);
    plan.bind(x, weight, y, bias);
    plan.x.read(), plan.weight.read();
    std::unordered_map<int, Memory> arguments = {
        {DNNL_ARG_SRC, plan.x.own}, {DNNL_ARG_WEIGHTS, plan.weight.own}, {DNNL_ARG_DST, plan.y.own}};
    if (bias) arguments.emplace(DNNL_ARG_BIAS, plan.bias);
    plan.primitive.execute(onednn_stream(), arguments);
    plan.y.write();
    plan.finish();
  });
}

void convolution_backward_input(const ConvolutionShape& shape, const float* dy, const float* weight, float* dx) {
  with_onednn("convolution", [&] {
    Plan& plan = plan_for(shape, Direction::input, false);
    plan.bind(dx, weight, dy, nullptr);
    plan.y.read(), plan.weight.read();
    plan.primitive.execute(
        onednn_stream(),
        {{DNNL_ARG_DIFF_DST, plan.y.own}, {DNNL_ARG_WEIGHTS, plan.weight.own}, {DNNL_ARG_DIFF_SRC, plan.x.own}});
    plan.x.write();
    plan.finish();
  });
}

void convolution_backward_weight(const ConvolutionShape& shape, const float* x, const float* dy, float* dweight,
                                 float* dbias) {
  with_onednn("convolution", [&] {
    Plan& plan = plan_for(shape, Direction::weight, dbias != nullptr);
    plan.bind(x, dweight, dy, dbias);
    plan.x.read(), plan.y.read();
    std::unordered_map<int, Memory> arguments = {
        {DNNL_ARG_SRC, plan.x.own}, {DNNL_ARG_DIFF_DST, plan.y.own}, {DNNL_ARG_DIFF_WEIGHTS, plan.weight.own}};
    if (dbias) arguments.emplace(DNNL_ARG_DIFF_BIAS, plan.bias);
    plan.primitive.execute(onednn_stream(), arguments);
    plan.weight.write();
    plan.finish();
  });
}

}  // namespace attend::kernels
