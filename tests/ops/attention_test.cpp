#include "attend/ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/core/memory.h"
#include "attend/core/threads.h"
#include "attend/ops/activation.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"
#include "attend/ops/matmul.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"
#include "attend/ops/transpose.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::close;
using test::expect_gradients;
using test::normal;
using test::Tensors;

struct Named {
  const char* name;
  Mask mask;
};

/// Every kind of mask for B = 2, H = 3, T = 7, S = 9. Some queries are fully masked.
std::vector<Named> every_mask() {
  Tensor allowed = Tensor::empty({2, 3, 7, 9}, DType::i8);
  for (std::int64_t i = 0; i < allowed.numel(); ++i)
    allowed.data<std::int8_t>()[i] = i / 9 % 7 != 2 && philox({3, 3}, static_cast<std::uint64_t>(i))[0] % 3 != 0;
  return {{"none", Mask::none()},
          {"causal", Mask::causal()},
          {"keys", Mask::keys(std::vector<std::int64_t>{9, 4})},
          {"no keys", Mask::keys(std::vector<std::int64_t>{0, 4})},
          {"causal keys", Mask::causal() & Mask::keys(std::vector<std::int64_t>{9, 3})},
          {"allowed", Mask::allowed(allowed)},
          {"causal allowed", Mask::causal() & Mask::allowed(allowed)},
          {"window", Mask::window(2)},
          {"causal window and keys", Mask::causal() & Mask::window(1) & Mask::keys(std::vector<std::int64_t>{9, 3})}};
}

/// weights [B, H, T, S] times values [B, S, H, E].
Tensor weighted(const Tensor& weights, const Tensor& v) {
  const std::int64_t B = v.dim(0), S = v.dim(1), H = v.dim(2), E = v.dim(3), T = weights.dim(2);
  Tensor out = Tensor::zeros({B, T, H, E});
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < T; ++i)
        for (std::int64_t j = 0; j < S; ++j)
          for (std::int64_t e = 0; e < E; ++e)
            out.data()[((b * T + i) * H + h) * E + e] +=
                weights.data()[((b * H + h) * T + i) * S + j] * v.data()[((b * S + j) * H + h) * E + e];
  return out;
}

TEST(Attention, FusedEqualsMaterialisedForEveryMask) {
  const Tensor q = normal({2, 7, 3, 5}, 1), k = normal({2, 9, 3, 5}, 2), v = normal({2, 9, 3, 4}, 3);
  for (const auto& [name, mask] : every_mask()) {
    const Tensor weights = attention_weights(q, k, {.mask = mask});
    EXPECT_EQ(weights.shape(), (Shape{2, 3, 7, 9}));
    EXPECT_TRUE(close(attention(q, k, v, {.mask = mask}), weighted(weights, v))) << name;
    for (std::int64_t row = 0; row < weights.rows(); ++row) {
      float sum = 0;
      for (std::int64_t j = 0; j < 9; ++j) sum += weights.data()[row * 9 + j];
      EXPECT_TRUE(std::abs(sum - 1.f) < 1e-5f || sum == 0.f) << name << ": " << sum;
    }
  }
}

TEST(Attention, GradientsForEveryMask) {
  for (const auto& [name, mask] : every_mask()) {
    SCOPED_TRACE(name);
    const AttentionOptions options{.mask = mask};
    expect_gradients([&](const Tensors& x) { return attention(x[0], x[1], x[2], options); },
                     {normal({2, 7, 3, 5}, 1), normal({2, 9, 3, 5}, 2), normal({2, 9, 3, 4}, 3)}, {.elements = 16});
  }
}

TEST(Attention, GradientsOfABiasOfEveryShapeUnderEveryMask) {
  for (const Shape& shape : {Shape{7, 9}, Shape{2, 7, 9}, Shape{1, 7, 9}, Shape{1, 1, 7, 9}, Shape{2, 1, 7, 9},
                             Shape{1, 3, 7, 9}, Shape{2, 3, 7, 9}})
    for (const auto& [name, mask] : every_mask()) {
      SCOPED_TRACE(testing::Message() << shape << " " << name);
      expect_gradients(
          [&, &mask = mask](const Tensors& x) {
            return attention(x[0], x[1], x[2], {.mask = mask, .scale = 1.f, .bias = x[3]});
          },
          {normal({2, 7, 3, 5}, 1, 0.5f), normal({2, 9, 3, 5}, 2), normal({2, 9, 3, 4}, 3), normal(shape, 4)},
          {.elements = 6});
    }
}

TEST(Attention, ABiasIsAddedToTheScaledScores) {
  const Tensor q = normal({2, 7, 3, 5}, 1), k = normal({2, 9, 3, 5}, 2), v = normal({2, 9, 3, 4}, 3);
  for (const Shape& shape : {Shape{7, 9}, Shape{1, 7, 9}, Shape{1, 3, 7, 9}, Shape{2, 3, 7, 9}}) {
    const Tensor bias = normal(shape, 4);
    // The scores and the softmax as separate ops.
    const Tensor scores =
        matmul(transpose(q, 1, 2), transpose(k, 1, 2), {.transpose_b = true}) * (1.f / std::sqrt(5.f));
    const Tensor by_head = bias.rank() == 3 ? bias.reshape(bias.shape().inserted(1, 1)) : bias;
    EXPECT_TRUE(close(attention_weights(q, k, {.mask = Mask::causal(), .bias = bias}),
                      masked_softmax(scores + by_head, Mask::causal())));
    for (const auto& [name, mask] : every_mask()) {
      const AttentionOptions both{.mask = mask, .bias = bias};
      EXPECT_TRUE(close(attention(q, k, v, both), weighted(attention_weights(q, k, both), v))) << name;
    }
  }
  EXPECT_ERROR(attention(q, k, v, {.bias = normal({3, 7, 9})}), "the bias does not fit: got [3, 7, 9]");
  EXPECT_ERROR(attention(q, k, v, {.bias = normal({9})}), "the bias does not fit: got [9]");
}

/// cap · tanh(x / cap), computed by other ops.
Tensor capped(const Tensor& x, float cap) { return tanh(x / cap) * cap; }

TEST(Attention, CappedScoresEqualMaterialisedOnesForEveryMask) {
  const float scale = 1 / std::sqrt(5.f), cap = 0.7f;
  for (const auto& [T, S] : {std::pair{7, 9}, {3, 40}, {70, 300}}) {
    const Tensor q = normal({2, T, 3, 5}, 1, 3.f), k = normal({2, S, 3, 5}, 2), v = normal({2, S, 3, 4}, 3);
    const Tensor scores = matmul(transpose(q, 1, 2), transpose(k, 1, 2), {.transpose_b = true}) * scale;
    for (const Mask& mask : {Mask::none(), Mask::causal()}) {
      const Tensor weights = masked_softmax(capped(scores, cap), mask);
      const AttentionOptions options{.mask = mask, .cap = cap};
      EXPECT_TRUE(close(attention_weights(q, k, options), weights));
      EXPECT_TRUE(close(attention(q, k, v, options), weighted(weights, v)));
    }
  }
}

TEST(Attention, GradientsOfCappedScores) {
  for (const auto& [T, S] : {std::pair{7, 9}, {5, 30}})
    for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::causal() & Mask::window(2)})
      expect_gradients([=](const Tensors& x) { return attention(x[0], x[1], x[2], {.mask = mask, .cap = 0.9f}); },
                       {normal({2, T, 2, 5}, 1), normal({2, S, 2, 5}, 2), normal({2, S, 2, 4}, 3)});
}

TEST(Attention, GroupedHeadsEqualRepeatedKeysAndValues) {
  const std::int64_t B = 2, T = 6, H = 6, KV = 2, D = 3;
  const Tensor qkv = normal({B, T, (H + 2 * KV) * D}, 1);
  Tensor repeated = Tensor::empty({B, T, 3 * H * D}), q = Tensor::empty({B, T, H * D}),
         kv = Tensor::empty({B, T, 2 * KV * D});
  for (std::int64_t row = 0; row < B * T; ++row) {
    const float* from = qkv.data() + row * (H + 2 * KV) * D;
    for (std::int64_t part = 0; part < 3; ++part)
      for (std::int64_t h = 0; h < H; ++h)
        std::copy_n(from + (part == 0 ? h : H + (part - 1) * KV + h / (H / KV)) * D, D,
                    repeated.data() + ((row * 3 + part) * H + h) * D);
    std::copy_n(from, H * D, q.data() + row * H * D);
    std::copy_n(from + H * D, 2 * KV * D, kv.data() + row * 2 * KV * D);
  }
  const AttentionOptions whole{.mask = Mask::causal()}, grouped{.mask = Mask::causal(), .kv_heads = KV};
  const Tensor expected = self_attention(repeated, H, whole);
  EXPECT_TRUE(close(self_attention(qkv, H, grouped), expected));
  EXPECT_TRUE(close(cross_attention(q, kv, H, grouped), expected));
  const Tensor weights = self_attention_weights(repeated, H, whole);
  EXPECT_TRUE(close(self_attention_weights(qkv, H, grouped), weights));
  EXPECT_TRUE(close(cross_attention_weights(q, kv, H, grouped), weights));
  expect_gradients([&](const Tensors& x) { return self_attention(x[0], H, grouped); }, {qkv});
  expect_gradients([&](const Tensors& x) { return cross_attention(x[0], x[1], H, grouped); }, {q, kv});
  EXPECT_ERROR(self_attention(qkv, H, {.kv_heads = 4}), "kv_heads 4");
  EXPECT_ERROR(cross_attention(q, kv, H, {.kv_heads = 3}), "expected [B, T, H·D] and [B, S, 2·KV·D]");
}

TEST(Attention, TheSameTensorMayBeQueriesKeysAndValues) {
  expect_gradients([](const Tensors& x) { return attention(x[0], x[0], x[0]); }, {normal({2, 5, 2, 3})});
}

TEST(Attention, AnInputThatIsUsedTwiceGetsBothGradients) {
  expect_gradients(
      [](const Tensors& x) {
        return attention(attention(x[0], x[1], x[1]), x[1], x[1], {.mask = Mask::keys(std::vector<std::int64_t>{3})});
      },
      {normal({1, 4, 2, 3}, 1), normal({1, 5, 2, 3}, 2)});
}

TEST(Attention, SelfAndCrossAttentionEqualAttention) {
  const std::int64_t B = 2, T = 6, S = 8, H = 3, D = 5, width = H * D;
  const Tensor qkv = normal({B, T, 3 * width}, 1), kv = normal({B, S, 2 * width}, 2);
  const auto part = [&](const Tensor& x, std::int64_t index, std::int64_t parts) {
    Tensor y = Tensor::empty({x.dim(0), x.dim(1), H, D});
    for (std::int64_t r = 0; r < x.rows(); ++r)
      for (std::int64_t c = 0; c < width; ++c) y.data()[r * width + c] = x.data()[(r * parts + index) * width + c];
    return y;
  };
  const Tensor q = part(qkv, 0, 3);
  const AttentionOptions causal{.mask = Mask::causal() & Mask::keys(std::vector<std::int64_t>{6, 4})};
  EXPECT_TRUE(close(self_attention(qkv, H, causal),
                    attention(q, part(qkv, 1, 3), part(qkv, 2, 3), causal).reshape({B, T, width})));
  EXPECT_TRUE(close(cross_attention(q.reshape({B, T, width}), kv, H),
                    attention(q, part(kv, 0, 2), part(kv, 1, 2)).reshape({B, T, width})));
  EXPECT_TRUE(close(self_attention_weights(qkv, H, causal), attention_weights(q, part(qkv, 1, 3), causal)));
  EXPECT_TRUE(close(cross_attention_weights(q.reshape({B, T, width}), kv, H), attention_weights(q, part(kv, 0, 2))));
}

TEST(Attention, GradientsOfSelfAndCrossAttention) {
  const AttentionOptions causal{.mask = Mask::causal() & Mask::keys(std::vector<std::int64_t>{5, 3})};
  expect_gradients([&](const Tensors& x) { return self_attention(x[0], 2, causal); }, {normal({2, 5, 18})});
  expect_gradients([&](const Tensors& x) { return cross_attention(x[0], x[1], 2); },
                   {normal({2, 3, 6}, 1), normal({2, 5, 12}, 2)});
}

TEST(Attention, PaddingKeysHaveNoEffect) {
  const Tensor q = normal({1, 4, 2, 8}, 1), k = normal({1, 6, 2, 8}, 2), v = normal({1, 6, 2, 8}, 3);
  Tensor longer_k = Tensor::full({1, 9, 2, 8}, std::numeric_limits<float>::quiet_NaN()), longer_v = longer_k.copy();
  std::copy_n(k.data(), k.numel(), longer_k.data());
  std::copy_n(v.data(), v.numel(), longer_v.data());
  const Tensor padded = attention(q, longer_k, longer_v, {.mask = Mask::keys(std::vector<std::int64_t>{6})});
  EXPECT_EQ(padded.to_vector(), attention(q, k, v).to_vector());
}

TEST(Attention, ABiasOfPackedSequencesIsIndexedByPositionsWithinEach) {
  const std::vector<std::int64_t> lengths{5, 0, 1, 9};
  const Tensor qkv = normal({1, 15, 3 * 8}, 1), bias = normal({1, 2, 10, 11}, 2);
  for (const Mask& mask : {Mask::none(), Mask::causal()}) {
    const AttentionOptions together{.mask = mask & Mask::packed(lengths), .bias = bias};
    const Tensor all = self_attention(qkv, 2, together), weights = self_attention_weights(qkv, 2, together);
    for (std::int64_t begin = 0, sequence = 0; const std::int64_t rows : lengths) {
      const Tensor part = qkv.reshape({15, 24}).view_rows(begin, begin + rows).reshape({1, rows, 24});
      Tensor corner = Tensor::empty({1, 2, rows, rows});
      for (std::int64_t i = 0; i < 2 * rows; ++i)
        std::copy_n(bias.data() + (i / rows * 10 + i % rows) * 11, rows, corner.data() + i * rows);
      const AttentionOptions alone{.mask = mask, .bias = corner};
      EXPECT_TRUE(close(self_attention(part, 2, alone).reshape({rows, 8}),
                        all.reshape({15, 8}).view_rows(begin, begin + rows)));
      const Tensor own = self_attention_weights(part, 2, alone);
      for (std::int64_t i = 0; i < own.numel(); ++i)
        EXPECT_NEAR(weights.data()[((sequence * 2 + i / (rows * rows)) * 9 + i / rows % rows) * 9 + i % rows],
                    own.data()[i], 1e-6);
      begin += rows, ++sequence;
    }
    expect_gradients(
        [&](const Tensors& x) { return self_attention(x[0], 2, {.mask = mask & Mask::packed(lengths), .bias = x[1]}); },
        {qkv, bias}, {.elements = 64});
  }
  EXPECT_ERROR(self_attention(qkv, 2, {.mask = Mask::packed(lengths), .bias = normal({1, 2, 8, 9})}),
               "does not cover the longest");
}

TEST(Attention, PackedSequencesAttendOnlyToThemselves) {
  const std::vector<std::int64_t> lengths{5, 0, 1, 9};
  const Tensor qkv = normal({1, 15, 3 * 8}, 1);
  for (const Mask& mask : {Mask::none(), Mask::causal()}) {
    const AttentionOptions together{.mask = mask & Mask::packed(lengths)};
    const Tensor all = self_attention(qkv, 2, together), weights = self_attention_weights(qkv, 2, together);
    EXPECT_EQ(weights.shape(), (Shape{4, 2, 9, 9}));
    for (std::int64_t begin = 0; const std::int64_t rows : lengths) {
      const Tensor sequence = qkv.reshape({15, 24}).view_rows(begin, begin + rows).reshape({1, rows, 24});
      EXPECT_TRUE(close(self_attention(sequence, 2, {.mask = mask}).reshape({rows, 8}),
                        all.reshape({15, 8}).view_rows(begin, begin + rows)));
      begin += rows;
    }
    expect_gradients([&](const Tensors& x) { return self_attention(x[0], 2, together); }, {qkv}, {.elements = 16});
  }
  EXPECT_ERROR(self_attention(normal({1, 14, 24}, 1), 2, {.mask = Mask::packed(lengths)}), "expected 1 of 15");
  EXPECT_ERROR(self_attention(qkv, 2, {.mask = Mask::packed(lengths) & Mask::keys({15})}), "cannot have lengths");
}

TEST(Attention, OneQueryAtATimeEqualsCausalAttention) {
  const std::int64_t T = 9;
  const Tensor q = normal({1, T, 2, 8}, 1), k = normal({1, T, 2, 8}, 2), v = normal({1, T, 2, 8}, 3);
  const Tensor all = attention(q, k, v, {.mask = Mask::causal()});
  for (std::int64_t i = 0; i < T; ++i) {
    const Tensor one = q.reshape({T, 1, 2, 8}).view_rows(i, i + 1);
    const Tensor step = attention(one, k, v, {.mask = Mask::keys(std::vector<std::int64_t>{i + 1})});
    EXPECT_TRUE(close(step.reshape({2, 8}), all.reshape({T, 2, 8}).view_rows(i, i + 1).reshape({2, 8})));
  }
}

TEST(Attention, DropoutActsInTrainingOnlyAndKeepsTheExpectation) {
  const Tensor q = Tensor::zeros({1, 2000, 1, 4}), k = normal({1, 50, 1, 4}), v = Tensor::full({1, 50, 1, 4}, 1.f);
  const AttentionOptions options{.dropout = 0.4f};
  EXPECT_TRUE(close(attention(q, k, v, options), Tensor::full({1, 2000, 1, 4}, 1.f)));
  Training training;
  const Tensor y = attention(q, k, v, options);
  double mean = 0, square = 0;
  for (std::int64_t i = 0; i < 2000; ++i) mean += y.data()[4 * i], square += std::pow(y.data()[4 * i], 2);
  mean /= 2000, square /= 2000;
  EXPECT_NEAR(mean, 1., 0.01);
  EXPECT_NEAR(square - mean * mean, 0.4 / 0.6 / 50,
              0.002);  // 50 weights of 1/50, each kept with probability 0.6 and divided by it
  EXPECT_NE(attention(q, k, v, options).to_vector(), y.to_vector()) << "each call has its own stream";
}

TEST(Attention, GradientsThroughDropout) {
  Training training;
  expect_gradients(
      [](const Tensors& x) {
        default_generator().restore(1, 2);
        return attention(x[0], x[1], x[2], {.dropout = 0.3f, .bias = x[3]});
      },
      {normal({2, 6, 2, 3}, 1), normal({2, 7, 2, 3}, 2), normal({2, 7, 2, 3}, 3), normal({1, 2, 6, 7}, 4)});
}

TEST(Attention, EmptySizesWork) {
  EXPECT_EQ(attention(Tensor::empty({0, 3, 2, 4}), Tensor::empty({0, 5, 2, 4}), Tensor::empty({0, 5, 2, 4})).numel(),
            0);
  EXPECT_EQ(attention(Tensor::empty({1, 0, 2, 4}), normal({1, 5, 2, 4}), normal({1, 5, 2, 4})).numel(), 0);
  const Tensor q = normal({1, 3, 2, 4}), none = Tensor::empty({1, 0, 2, 4});
  EXPECT_TRUE(close(attention(q, none, none), Tensor::zeros({1, 3, 2, 4})));
  expect_gradients([&](const Tensors& x) { return attention(x[0], none, none); }, {q});
}

TEST(Attention, NothingIsKeptWithoutGradients) {
  Tensor qkv = normal({1, 64, 3 * 64});
  require_grad(qkv);
  NoGrad no_grad;
  const std::size_t before = memory_use().current;
  const Tensor y = self_attention(qkv, 2);
  EXPECT_FALSE(requires_grad(y));
  EXPECT_LE(memory_use().current - before, y.bytes() + 4096);  // block sizes are rounded up
}

TEST(Attention, OneThreadEqualsTwoAndTwoRunsAreEqual) {
  const auto run = [](int count) {
    const int before = threads();
    set_threads(count);
    Training training;
    default_generator().restore(1, 0);
    Tensor qkv = normal({3, 70, 3 * 32});
    require_grad(qkv);
    const Tensor y = self_attention(qkv, 2, {.mask = Mask::causal(), .dropout = 0.1f});
    backward(y, normal(y.shape(), 9));
    set_threads(before);
    return std::pair(y.to_vector(), grad(qkv).to_vector());
  };
  const auto one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(1));
}

TEST(Attention, WrongShapesAreReported) {
  const Tensor q = Tensor::zeros({2, 3, 4, 5}), k = Tensor::zeros({2, 6, 4, 5}), v = Tensor::zeros({2, 7, 4, 5});
  EXPECT_ERROR(attention(q, k, v), "[attention] ");
  EXPECT_ERROR(attention(q, k, v), "q [2, 3, 4, 5], k [2, 6, 4, 5], v [2, 7, 4, 5]");
  EXPECT_ERROR(attention(q, k, k, {.mask = Mask::keys(std::vector<std::int64_t>{1})}), "got 1 lengths, expected 2");
  EXPECT_ERROR(attention(q, k, k, {.dropout = 1.5f}), "probability");
  EXPECT_ERROR(self_attention(Tensor::zeros({2, 3, 16}), 4), "got [2, 3, 16] for 4 heads");
  EXPECT_ERROR(cross_attention(Tensor::zeros({2, 3, 16}), Tensor::zeros({2, 3, 16}), 4), "got q [2, 3, 16]");
}

}  // namespace
}  // namespace attend
