#include "attend/kernels/matmul.h"

#include <unordered_map>
#include <utility>

#include "attend/core/threads.h"
#include "attend/kernels/onednn.h"
#include "attend/kernels/row_blocks.h"

namespace attend::kernels {
namespace {

/// A oneDNN primitive and its memory objects, whose pointers are set in each call.
struct Plan {
  dnnl::matmul primitive;
  dnnl::memory a, b, c, bias;
  std::unordered_map<int, dnnl::memory> arguments;
};

/// Describes [batch, rows, cols] with a row stride. A transposed matrix is stored as [batch, cols, rows].
dnnl::memory::desc matrix(std::int64_t batch, std::int64_t rows, std::int64_t cols, bool transposed,
                          std::int64_t stride) {
  const std::int64_t stored_rows = transposed ? cols : rows;
  if (stride == 0) stride = transposed ? rows : cols;
  return {{batch, rows, cols},
          dnnl::memory::data_type::f32,
          transposed ? dnnl::memory::dims{stored_rows * stride, 1, stride}
                     : dnnl::memory::dims{stored_rows * stride, stride, 1}};
}

Plan make_plan(const MatmulShape& s, bool with_bias) {
  const dnnl::memory::desc a = matrix(s.batch, s.m, s.k, s.transpose_a, s.a_stride);
  const dnnl::memory::desc b = matrix(s.broadcast_b ? 1 : s.batch, s.k, s.n, s.transpose_b, s.b_stride);
  const dnnl::memory::desc c = matrix(s.batch, s.m, s.n, false, s.c_stride);
  const dnnl::memory::desc bias({1, 1, s.n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::abc);
  dnnl::primitive_attr attr;
  if (s.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.f);
    attr.set_post_ops(sum);
  }
  const auto description =
      with_bias ? onednn_plan<dnnl::matmul>(attr, a, b, bias, c) : onednn_plan<dnnl::matmul>(attr, a, b, c);
  const dnnl::engine& engine = onednn_engine();
  Plan plan{dnnl::matmul(description), {a, engine, nullptr}, {b, engine, nullptr}, {c, engine, nullptr}, {}, {}};
  plan.arguments = {{DNNL_ARG_SRC, plan.a}, {DNNL_ARG_WEIGHTS, plan.b}, {DNNL_ARG_DST, plan.c}};
  if (with_bias) {
    plan.bias = dnnl::memory(bias, engine, nullptr);
    plan.arguments.emplace(DNNL_ARG_BIAS, plan.bias);
  }
  return plan;
}

/// The product for k = 0: C is set to the bias or 0, or the bias is added if `accumulate`.
void matmul_of_nothing(const MatmulShape& s, float* c, const float* bias) {
  if (s.accumulate && !bias) return;
  const std::int64_t stride = s.c_stride ? s.c_stride : s.n;
  for (std::int64_t row = 0; row < s.batch * s.m; ++row)
    for (std::int64_t j = 0; j < s.n; ++j)
      c[row * stride + j] = (s.accumulate ? c[row * stride + j] : 0.f) + (bias ? bias[j] : 0.f);
}

thread_local bool uniform_rows = false;

using Rows = void (*)(const FewRows&, const float* x, const float* w, float* y, const float* bias);

/// The kernel of our own that is at least as fast as oneDNN for this shape, or null.
Rows rows_kernel(const MatmulShape& s) {
  if (s.batch > 1 || !s.transpose_b || s.transpose_a) return nullptr;
  if (UniformRows::active()) return row_blocks;
  if (s.m <= kFewRows) return few_rows;
  return s.m <= kMostInRowBlocks && s.n >= kLeastForRowBlocks ? row_blocks : nullptr;
}

}  // namespace

UniformRows::UniformRows() : before_(std::exchange(uniform_rows, true)) {}
UniformRows::~UniformRows() { uniform_rows = before_; }
bool UniformRows::active() { return uniform_rows; }

void matmul(const MatmulShape& shape, const float* a, const float* b, float* c, const float* bias) {
  if (shape.batch == 0 || shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) return matmul_of_nothing(shape, c, bias);
  if (const Rows rows = rows_kernel(shape)) {
    const auto stride = [](std::int64_t given, std::int64_t dense) { return given ? given : dense; };
    return rows({shape.m, shape.n, shape.k, stride(shape.a_stride, shape.k), stride(shape.b_stride, shape.k),
                 stride(shape.c_stride, shape.n), shape.accumulate},
                a, b, c, bias);
  }
  const std::int64_t flags = shape.transpose_a | shape.transpose_b << 1 | shape.accumulate << 2 |
                             shape.broadcast_b << 3 | std::int64_t{bias != nullptr} << 4 | std::int64_t{threads()} << 5;
  const PlanKey<8> key{{shape.m, shape.n, shape.k, shape.batch, shape.a_stride, shape.b_stride, shape.c_stride, flags}};
  with_onednn("matmul", [&] {
    Plan& plan = kept_plan<Plan>(key, [&] { return make_plan(shape, bias != nullptr); });
    plan.a.set_data_handle(const_cast<float*>(a));
    plan.b.set_data_handle(const_cast<float*>(b));
    plan.c.set_data_handle(c);
    if (bias) plan.bias.set_data_handle(const_cast<float*>(bias));
    plan.primitive.execute(onednn_stream(), plan.arguments);
    onednn_stream().wait();
  });
}

}  // namespace attend::kernels
