// Tests that run for all ops. To add an op, add one line to the table below, and one with the same name to
// tests/golden/ops.py; then run that script, which needs PyTorch. A line has the form
//   {"name", function of the inputs, [large inputs,] [options]}
// The tests check for every example of ops.py with this name:
// - values and gradients equal those of PyTorch, and gradients match finite differences;
// - a tensor that is used as two inputs gets both gradients.
// For the examples and the large inputs, which should be large enough for several threads, they check:
// - results have the same bits with one, two and three threads, and in two runs;
// - results are the same with portable instructions.
// Tests of a single op, for example of errors, are in NAME_test.cpp.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "attend/core/threads.h"
#include "attend/kernels/cpu.h"
#include "attend/ops/activation.h"
#include "attend/ops/additive_scores.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/attention.h"
#include "attend/ops/circular_convolution.h"
#include "attend/ops/concat.h"
#include "attend/ops/convolution.h"
#include "attend/ops/cosine_similarity.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/embedding.h"
#include "attend/ops/gated.h"
#include "attend/ops/gather.h"
#include "attend/ops/linear.h"
#include "attend/ops/matmul.h"
#include "attend/ops/norm.h"
#include "attend/ops/recurrence.h"
#include "attend/ops/reduce.h"
#include "attend/ops/rotary.h"
#include "attend/ops/softmax.h"
#include "attend/ops/transpose.h"
#include "attend/ops/where.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;
using In = const Tensors&;

/// A large input, created when its test runs.
using Input = std::function<Tensor()>;
Input floats(const Shape& shape) {
  return [=] { return test::normal(shape); };
}
Input small(const Shape& shape) {
  return [=] { return test::normal(shape, 1, 0.1f); };
}
Input positive(const Shape& shape) {
  return [=] { return exp(test::normal(shape)); };
}
Input ids(std::int32_t bound, const Shape& shape) {
  return [=] { return test::random_ids(shape, bound); };
}
Input mask(const Shape& shape) {
  return [=] {
    const Tensor bits = test::random_ids(shape, 2);
    const std::vector<std::int8_t> flags(bits.span<std::int32_t>().begin(), bits.span<std::int32_t>().end());
    return Tensor::from(std::span<const std::int8_t>(flags), shape);
  };
}

struct Options {
  test::Tolerance tolerance = {.absolute = 2e-6f};
  test::GradCheckOptions finite_differences = {};
  bool any_threads_same_bits = true;  ///< otherwise, results with a different number of threads are only close
};

struct Op {
  std::string name;
  test::Function function;
  std::vector<Input> large;
  Options options;

  template <typename F>  // returns one result or several
  Op(std::string op, F f, std::vector<Input> inputs = {}, Options how = {})
      : name(std::move(op)),
        function([f](In x) -> Tensors { return {f(x)}; }),
        large(std::move(inputs)),
        options(how) {}
};
std::ostream& operator<<(std::ostream& out, const Op& op) { return out << op.name; }

/// oneDNN may split sums by the number of threads.
constexpr Options kOneDnn{.any_threads_same_bits = false};

/// A bias with different elements.   -> [5, 5]
Tensor slope() {
  Tensor bias = Tensor::empty({5, 5});
  for (std::int64_t i = 0; i < 25; ++i) bias.data()[i] = -0.5f * static_cast<float>(i);
  return bias;
}

/// A table that rotates four features of each head.
RotaryTable rotary(RotaryLayout layout) { return RotaryTable(11, rotary_frequencies(4, 100), layout); }

/// x, the four weights, h0, c0 and lengths, in this order.
Tensors recurrent(kernels::Cell cell, In x, bool reverse = false) {
  const RecurrentResult result = recurrence("recurrence", cell, x[0], {x[1], x[2], x[3], x[4]},
                                            {x[5], cell == kernels::Cell::lstm ? x[6] : Tensor(), x[7], reverse});
  return result.c.defined() ? Tensors{result.y, result.h, result.c} : Tensors{result.y, result.h};
}

// One op on each line.
// clang-format off
const Op kOps[] = {
    // ---- arithmetic ----
    {"add", [](In x) { return x[0] + x[1]; }, {floats({31, 43, 67}), floats({43, 1})}},
    {"sub", [](In x) { return x[0] - x[1]; }, {floats({31, 43, 67}), floats({31, 1, 67})}},
    {"mul", [](In x) { return x[0] * x[1]; }, {floats({1031, 97}), floats({97})}},
    {"div", [](In x) { return x[0] / x[1]; }, {floats({1031, 97}), positive({1})}},
    {"affine", [](In x) { return 1.5f * x[0] - 0.25f; }, {floats({100003})}},
    {"one over", [](In x) { return 2.f / x[0]; }},
    {"negate", [](In x) { return -x[0]; }},
    {"exp", [](In x) { return exp(x[0]); }, {floats({100003})}},
    {"log", [](In x) { return log(x[0]); }, {positive({100003})}},
    {"sqrt", [](In x) { return sqrt(x[0]); }},
    {"square", [](In x) { return square(x[0]); }},
    // ---- reductions ----
    {"sum of all", [](In x) { return sum(x[0]); }, {floats({300007})}},
    {"mean of all", [](In x) { return mean(x[0]); }},
    {"max of all", [](In x) { return max(x[0]); }},
    {"sum 0", [](In x) { return sum(x[0], 0); }, {floats({5003, 67})}},
    {"sum 1 keep", [](In x) { return sum(x[0], 1, true); }, {floats({7, 11, 3001})}},
    {"mean -1", [](In x) { return mean(x[0], -1); }, {floats({503, 301})}},
    {"max 1", [](In x) { return max(x[0], 1); }, {floats({71, 83, 37})}},
    {"argmax", [](In x) { return argmax(x[0], -1); }, {floats({503, 301})}},
    {"sum of lengths", [](In x) { return sum(x[0], x[1]); }, {floats({31, 43, 67}), ids(44, {31})}},
    {"mean of lengths", [](In x) { return mean(x[0], x[1]); }, {floats({3, 3001, 67}), ids(3002, {3})}},
    {"max of lengths", [](In x) { return max(x[0], x[1]); }, {floats({31, 43, 67}), ids(44, {31})}},
    // ---- movement ----
    {"embedding", [](In x) { return embedding(x[0], x[1]); }, {floats({89, 300}), ids(89, {31, 43})}},
    {"embedding scaled padded", [](In x) { return embedding(x[0], x[1], {.padding = 1, .scale = 2.5f}); }, {}, {.finite_differences = {.elements = 0}}},
    {"concat 0", [](In x) { return concat({x[0], x[1]}, 0); }},
    {"concat -1", [](In x) { return concat({x[0], x[1], x[2]}, -1); }, {floats({1031, 30}), floats({1031, 7}), floats({1031, 1})}},
    {"split", [](In x) { return split(x[0], {2, 0, 3}, 1); }, {floats({31, 5, 1031})}},
    {"split in two", [](In x) { return split(x[0], 2, -1); }},
    {"slice", [](In x) { return slice(x[0], 1, 1, 4); }, {floats({31, 5, 1031})}},
    {"gather", [](In x) { return gather(x[0], x[1]); }, {floats({31, 43, 67}), ids(43, {31})}},
    {"gather several", [](In x) { return gather(x[0], x[1]); }, {floats({31, 43, 67}), ids(43, {31, 50})}},
    {"index_select", [](In x) { return index_select(x[0], x[1], 1); }, {floats({31, 43, 67}), ids(43, {50})}},
    {"transpose", [](In x) { return transpose(x[0], 1, -1); }, {floats({3, 131, 257})}},
    {"transpose 0 2", [](In x) { return transpose(x[0], 0, 2); }, {floats({31, 43, 67})}},
    {"where", [](In x) { return where(x[0], x[1], x[2]); }, {mask({43, 1}), floats({31, 43, 67}), floats({31, 43, 67})}},
    {"masked_fill", [](In x) { return masked_fill(x[0], x[1], -3.f); }, {floats({31, 43, 67}), mask({31, 43, 67})}},
    // ---- rows ----
    {"softmax", [](In x) { return softmax(x[0]); }, {floats({503, 301})}},
    {"log_softmax", [](In x) { return log_softmax(x[0]); }, {floats({503, 301})}},
    {"masked_softmax", [](In x) { return masked_softmax(x[0], x[1]); }, {floats({31, 43, 67}), ids(68, {31})}},
    {"layer_norm", [](In x) { return layer_norm(x[0], x[1], x[2]); }, {floats({1031, 97}), floats({97}), floats({97})}},
    {"add_layer_norm", [](In x) { const AddNorm y = add_layer_norm(x[0], x[1], x[2], x[3], 1e-12f); return Tensors{y.sum, y.normed}; }, {floats({1031, 97}), floats({1031, 97}), floats({97}), floats({97})}},
    {"layer_norm without bias", [](In x) { return layer_norm(x[0], x[1]); }, {floats({1031, 97}), floats({97})}},
    {"add_layer_norm without bias", [](In x) { const AddNorm y = add_layer_norm(x[0], x[1], x[2]); return Tensors{y.sum, y.normed}; }},
    {"rms_norm", [](In x) { return rms_norm(x[0], x[1]); }, {floats({1031, 97}), floats({97})}},
    {"add_rms_norm", [](In x) { const AddNorm y = add_rms_norm(x[0], x[1], x[2], 1e-3f); return Tensors{y.sum, y.normed}; }, {floats({1031, 97}), floats({1031, 97}), floats({97})}},
    {"relu", [](In x) { return relu(x[0]); }},
    {"gelu", [](In x) { return gelu(x[0]); }, {floats({100003})}},
    {"gelu_tanh", [](In x) { return gelu_tanh(x[0]); }},
    {"silu", [](In x) { return silu(x[0]); }},
    {"tanh", [](In x) { return tanh(x[0]); }},
    {"sigmoid", [](In x) { return sigmoid(x[0]); }},
    {"gated relu", [](In x) { return gated(x[0], Activation::relu); }},
    {"gated gelu", [](In x) { return gated(x[0], Activation::gelu); }, {floats({131, 602})}},
    {"gated gelu_tanh", [](In x) { return gated(x[0], Activation::gelu_tanh); }},
    {"gated silu", [](In x) { return gated(x[0], Activation::silu); }, {floats({131, 602})}},
    {"gated tanh", [](In x) { return gated(x[0], Activation::tanh); }},
    {"gated sigmoid", [](In x) { return gated(x[0], Activation::sigmoid); }},
    {"cross_entropy", [](In x) { return cross_entropy(x[0], x[1]); }, {floats({131, 1009}), ids(1009, {131})}},
    {"cross_entropy smoothed ignoring", [](In x) { return cross_entropy(x[0], x[1], {.label_smoothing = 0.1f, .ignored = 2}); }},
    {"cross_entropy none", [](In x) { return cross_entropy(x[0], x[1], {.reduction = Reduction::none}); }},
    {"cross_entropy sum", [](In x) { return cross_entropy(x[0], x[1], {.reduction = Reduction::sum}); }},
    // ---- positions ----
    {"rotate halves", [](In x) { return rotate_heads(x[0], 2, 5, x[1], rotary(RotaryLayout::halves)); }, {floats({97, 103}), ids(11, {97})}},
    {"rotate interleaved", [](In x) { return rotate_heads(x[0], 2, 5, x[1], rotary(RotaryLayout::interleaved)); }, {floats({97, 103}), ids(11, {97})}},
    // ---- products ----
    {"linear", [](In x) { return linear(x[0], x[1], x[2]); }, {floats({131, 67}), floats({301, 67}), floats({301})}, kOneDnn},
    {"linear without bias", [](In x) { return linear(x[0], x[1]); }, {}, kOneDnn},
    {"linear relu", [](In x) { return linear(x[0], x[1], x[2], Activation::relu); }, {}, kOneDnn},
    {"linear gelu", [](In x) { return linear(x[0], x[1], x[2], Activation::gelu); }, {floats({131, 67}), floats({301, 67}), floats({301})}, kOneDnn},
    {"linear gelu_tanh", [](In x) { return linear(x[0], x[1], x[2], Activation::gelu_tanh); }, {}, kOneDnn},
    {"linear silu", [](In x) { return linear(x[0], x[1], x[2], Activation::silu); }, {}, kOneDnn},
    {"linear tanh", [](In x) { return linear(x[0], x[1], x[2], Activation::tanh); }, {}, kOneDnn},
    {"linear sigmoid", [](In x) { return linear(x[0], x[1], x[2], Activation::sigmoid); }, {}, kOneDnn},
    {"matmul", [](In x) { return matmul(x[0], x[1]); }, {floats({7, 131, 67}), floats({7, 67, 97})}, kOneDnn},
    {"matmul aT", [](In x) { return matmul(x[0], x[1], {.transpose_a = true}); }, {}, kOneDnn},
    {"matmul bT", [](In x) { return matmul(x[0], x[1], {.transpose_b = true}); }, {}, kOneDnn},
    {"matmul aT bT", [](In x) { return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true}); }, {}, kOneDnn},
    {"conv1d", [](In x) { return conv1d(x[0], x[1], x[2], {.stride = 2, .padding = 1}); }, {floats({8, 16, 131}), floats({32, 16, 3}), floats({32})}, kOneDnn},
    {"conv2d", [](In x) { return conv2d(x[0], x[1], x[2], {.padding = {1, 0}, .dilation = {1, 2}, .groups = 2}); }, {floats({4, 8, 31, 37}), floats({16, 4, 3, 2}), floats({16})}, kOneDnn},
    // ---- recurrences ----
    {"gru", [](In x) { return recurrent(kernels::Cell::gru, x); }, {floats({16, 10, 64}), small({192, 64}), small({192, 64}), floats({192}), floats({192}), floats({16, 64}), floats({16, 64}), ids(11, {16})}, kOneDnn},
    {"gru reversed", [](In x) { return recurrent(kernels::Cell::gru, x, true); }, {}, kOneDnn},
    {"lstm", [](In x) { return recurrent(kernels::Cell::lstm, x); }, {floats({16, 10, 64}), small({256, 64}), small({256, 64}), floats({256}), floats({256}), floats({16, 64}), floats({16, 64}), ids(11, {16})}, kOneDnn},
    {"lstm reversed", [](In x) { return recurrent(kernels::Cell::lstm, x, true); }, {}, kOneDnn},
    // ---- scores ----
    {"additive_scores", [](In x) { return additive_scores(x[0], x[1], x[2]); }, {floats({16, 10, 64}), floats({16, 11, 64}), floats({64})}},
    {"additive_scores of lengths", [](In x) { return additive_scores(x[0], x[1], x[2], x[3]); }, {floats({16, 10, 64}), floats({16, 11, 64}), floats({64}), ids(12, {16})}},
    {"cosine_similarity", [](In x) { return cosine_similarity(x[0], x[1]); }, {floats({16, 10, 64}), floats({16, 11, 64})}, kOneDnn},
    {"circular_convolution", [](In x) { return circular_convolution(x[0], x[1]); }, {floats({64, 301}), floats({64, 3})}},
    // ---- attention ----
    {"attention", [](In x) { return attention(x[0], x[1], x[2]); }, {floats({2, 67, 3, 32}), floats({2, 131, 3, 32}), floats({2, 131, 3, 16})}},
    {"attention causal", [](In x) { return attention(x[0], x[1], x[2], {.mask = Mask::causal()}); }, {floats({2, 131, 3, 32}), floats({2, 131, 3, 32}), floats({2, 131, 3, 32})}},
    {"attention of lengths", [](In x) { return attention(x[0], x[1], x[2], {.mask = Mask::keys(x[3])}); }, {floats({5, 67, 3, 32}), floats({5, 131, 3, 32}), floats({5, 131, 3, 32}), ids(132, {5})}},
    {"attention causal of lengths", [](In x) { return attention(x[0], x[1], x[2], {.mask = Mask::causal() & Mask::keys(x[3])}); }},
    {"attention allowed", [](In x) { return attention(x[0], x[1], x[2], {.mask = Mask::allowed(x[3])}); }, {floats({2, 67, 3, 32}), floats({2, 131, 3, 32}), floats({2, 131, 3, 32}), mask({67, 131})}},
    {"attention additive", [](In x) { return attention(x[0], x[1], x[2], {.bias = slope()}); }},
    {"attention biased", [](In x) { return attention(x[0], x[1], x[2], {.bias = x[3]}); }, {floats({5, 67, 4, 32}), floats({5, 131, 4, 32}), floats({5, 131, 4, 16}), floats({1, 4, 67, 131})}},
    {"attention biased causal of lengths", [](In x) { return attention(x[0], x[1], x[2], {.mask = Mask::causal() & Mask::keys(x[4]), .bias = x[3]}); }, {floats({5, 131, 3, 32}), floats({5, 131, 3, 32}), floats({5, 131, 3, 32}), floats({131, 131}), ids(132, {5})}},
    {"attention grouped", [](In x) { return attention(x[0], x[1], x[2]); }, {floats({2, 67, 6, 32}), floats({2, 131, 2, 32}), floats({2, 131, 2, 16})}},
    {"self_attention causal", [](In x) { return self_attention(x[0], 2, {.mask = Mask::causal()}); }, {floats({3, 131, 192})}},
};
// clang-format on

/// tensors[0], tensors[1], … under prefix0, prefix1, … of the golden file.
Tensors numbered(const SafetensorsFile& file, const std::string& prefix) {
  Tensors tensors;
  while (file.contains(prefix + std::to_string(tensors.size())))
    tensors.push_back(file.get(prefix + std::to_string(tensors.size())).copy());
  return tensors;
}

class Ops : public testing::TestWithParam<Op> {
 protected:
  const SafetensorsFile golden_ = test::golden("ops");

  /// Calls body(prefix, inputs) for every example of the op in the golden file.
  void for_each_example(const std::function<void(const std::string&, const Tensors&)>& body) {
    int examples = 0;
    for (;; ++examples) {
      const std::string prefix = GetParam().name + "/" + std::to_string(examples) + "/";
      if (!golden_.contains(prefix + "out0")) break;
      SCOPED_TRACE(prefix);
      body(prefix, numbered(golden_, prefix + "in"));
    }
    EXPECT_GT(examples, 0) << "tests/golden/ops.py has no \"" << GetParam().name << '"';
  }

  /// Calls body(inputs) for every example and for the large inputs.
  void for_all_inputs(const std::function<void(const Tensors&)>& body) {
    for_each_example([&](const std::string&, const Tensors& inputs) { body(inputs); });
    Tensors large;
    for (const Input& make : GetParam().large) large.push_back(make());
    if (!large.empty()) body(large);
  }

  /// All results and gradients of the op for these inputs.
  Tensors all_of(const Tensors& inputs) const {
    const test::Gradients gradients = test::gradients_of(GetParam().function, inputs);
    Tensors all;
    for (const Tensors& tensors : {gradients.results, gradients.inputs})
      for (const Tensor& x : tensors)
        if (x.defined()) all.push_back(x);
    return all;
  }
};

TEST_P(Ops, ValuesEqualPyTorch) {
  for_each_example([&](const std::string& prefix, const Tensors& inputs) {
    const Tensors results = GetParam().function(inputs), expected = numbered(golden_, prefix + "out");
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].dtype() == DType::f32)
        EXPECT_TRUE(test::close(results[i], expected[i], GetParam().options.tolerance)) << "result " << i;
      else
        EXPECT_TRUE(std::ranges::equal(results[i].span<std::int32_t>(), expected[i].span<std::int32_t>()));
    }
  });
}

TEST_P(Ops, GradientsEqualPyTorch) {
  for_each_example([&](const std::string& prefix, const Tensors& inputs) {
    const Tensors weights = numbered(golden_, prefix + "dout");
    if (weights.empty()) return;
    const test::Gradients gradients =
        test::gradients_of(GetParam().function, inputs, [&](const Tensors&) { return weights; });
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].dtype() != DType::f32) continue;
      const Tensor& got = gradients.inputs[i];  // undefined if the results do not depend on the input
      const Tensor expected = golden_.get(prefix + "din" + std::to_string(i));
      EXPECT_TRUE(test::close(got ? got : Tensor::zeros(expected.shape()), expected, GetParam().options.tolerance))
          << "gradient of input " << i;
    }
  });
}

TEST_P(Ops, GradientsMatchFiniteDifferences) {
  for_each_example([&](const std::string& prefix, const Tensors& inputs) {
    if (golden_.contains(prefix + "dout0"))
      test::expect_gradients(GetParam().function, inputs, GetParam().options.finite_differences);
  });
}

TEST_P(Ops, ATensorUsedAsTwoInputsGetsBothGradients) {
  for_each_example([&](const std::string&, Tensors inputs) {
    for (std::size_t j = 1; j < inputs.size(); ++j)
      for (std::size_t i = 0; i < j; ++i) {
        if (inputs[i].dtype() != DType::f32 || inputs[j].dtype() != DType::f32 ||
            inputs[i].numel() != inputs[j].numel())
          continue;
        const auto same = [&](const Tensor& x) { return x.reshape(inputs[j].shape()); };
        inputs[j] = same(inputs[i].copy());
        const Tensors apart = test::gradients_of(GetParam().function, inputs).inputs;
        if (!apart[i] || !apart[j]) continue;
        const auto joined = [&](Tensors x) {
          x[j] = same(x[i]);
          return GetParam().function(x);
        };
        const Tensors one = test::gradients_of(joined, inputs).inputs;
        EXPECT_TRUE(test::close(one[i], apart[i] + apart[j].reshape(inputs[i].shape()), GetParam().options.tolerance))
            << "input " << i << " as input " << j << " too";
      }
  });
}

TEST_P(Ops, ResultsDoNotDependOnThreadsOrTheRun) {
  const int before = threads();
  for_all_inputs([&](const Tensors& inputs) {
    for (const int count : {1, 2, 3}) {
      SCOPED_TRACE(count);
      set_threads(1);
      const Tensors once = all_of(inputs);
      set_threads(count);
      const Tensors again = all_of(inputs);
      ASSERT_EQ(once.size(), again.size());
      const bool same_bits = count == 1 || GetParam().options.any_threads_same_bits;
      for (std::size_t i = 0; i < once.size(); ++i)
        if (same_bits)
          EXPECT_EQ(std::memcmp(once[i].raw(), again[i].raw(), once[i].bytes()), 0) << "tensor " << i;
        else
          EXPECT_TRUE(test::close(again[i], once[i], {.absolute = 1e-4f})) << "tensor " << i;
    }
  });
  set_threads(before);
}

TEST_P(Ops, PortableInstructionsGiveTheSameResults) {
  for_all_inputs([&](const Tensors& inputs) {
    const Tensors best = all_of(inputs);
    kernels::use_portable_instructions(true);
    const Tensors portable = all_of(inputs);
    kernels::use_portable_instructions(false);
    ASSERT_EQ(best.size(), portable.size());
    for (std::size_t i = 0; i < best.size(); ++i)
      if (best[i].dtype() == DType::f32)
        EXPECT_TRUE(test::close(portable[i], best[i], {.absolute = 1e-4f})) << "tensor " << i;
      else
        EXPECT_TRUE(std::ranges::equal(portable[i].span<std::int32_t>(), best[i].span<std::int32_t>()));
  });
}

TEST_P(Ops, NothingIsRecordedUnderNoGrad) {
  for_each_example([&](const std::string&, Tensors inputs) {
    NoGrad no_grad;
    for (Tensor& input : inputs)
      if (input.dtype() == DType::f32) require_grad(input);
    for (const Tensor& result : GetParam().function(inputs))
      EXPECT_TRUE(!requires_grad(result) || result.node() == inputs[0].node());  // transpose(x, i, i) is x itself
  });
}

INSTANTIATE_TEST_SUITE_P(, Ops, testing::ValuesIn(kOps), [](const testing::TestParamInfo<Op>& op) {
  std::string name;
  for (const char c : op.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(OpsTable, HasEveryOpOfTheGoldenFile) {
  std::set<std::string> tested;
  for (const Op& op : kOps) EXPECT_TRUE(tested.insert(op.name).second) << op.name << " is there twice";
  for (const std::string& name : test::golden("ops").names())
    EXPECT_TRUE(tested.contains(name.substr(0, name.find('/')))) << name;
}

}  // namespace
}  // namespace attend
