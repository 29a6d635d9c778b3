#include "attend/ops/additive_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "attend/core/threads.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;
using test::Tensors;

Tensor scores(const Tensors& x) { return additive_scores(x[0], x[1], x[2]); }

TEST(AdditiveScores, OneTensorMayBeQueriesKeysAndVector) {
  test::expect_gradients(
      [](const Tensors& in) {
        const Tensor q = in[0].reshape({1, 1, 5});
        return additive_scores(q, q, in[0]);
      },
      {normal({5})});
}

TEST(AdditiveScores, EqualPyTorchForSmallAndLargeNumbers) {
  const SafetensorsFile file = test::golden("scores");
  for (const std::string name : {"additive/", "additive_large/"}) {
    const test::Gradients got =
        test::gradients_of([](const Tensors& x) { return Tensors{scores(x)}; },
                           {file.get(name + "q").copy(), file.get(name + "k").copy(), file.get(name + "v").copy()},
                           [&](const Tensors&) { return Tensors{file.get(name + "seed")}; });
    const test::Tolerance tolerance{1e-4f, 5e-6f};
    EXPECT_TRUE(test::close(got.results[0], file.get(name + "y"), tolerance));
    EXPECT_TRUE(test::close(got.inputs[0], file.get(name + "d/q"), tolerance));
    EXPECT_TRUE(test::close(got.inputs[1], file.get(name + "d/k"), tolerance));
    EXPECT_TRUE(test::close(got.inputs[2], file.get(name + "d/v"), tolerance));
  }
}

TEST(AdditiveScores, GradientsMatchFiniteDifferences) {
  test::expect_gradients(scores, {normal({2, 3, 5}, 1), normal({2, 7, 5}, 2), normal({5}, 3)});
  test::expect_gradients(scores, {normal({1, 18, 70}, 1), normal({1, 1, 70}, 2), normal({70}, 3)}, {.elements = 8});
}

TEST(AdditiveScores, PaddingKeysGiveZeroAndGetNoGradient) {
  const Tensor lengths = Tensor::ids({3, 0}, {2});
  const Tensors in{normal({2, 2, 5}, 1), normal({2, 4, 5}, 2), normal({5}, 3)};
  const auto cut = [&](const Tensors& x) { return additive_scores(x[0], x[1], x[2], lengths); };
  const Tensor all = scores(in), some = cut(in);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t j = 0; j < 4; ++j) {
        const std::int64_t at = (b * 2 + i) * 4 + j;
        EXPECT_NEAR(some.data()[at], j < lengths.data<std::int32_t>()[b] ? all.data()[at] : 0.f, 1e-6f);
      }
  test::expect_gradients(cut, in);
}

TEST(AdditiveScores, LargeNumbersSaturateAndNaNStaysNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Tensor k = Tensor::from({-1e30f, 0.f, 50.f, kInfinity}, {1, 4, 1}), one = Tensor::full({1}, 1.f);
  const Tensor y = additive_scores(Tensor::from({30.f, -49.5f}, {1, 2, 1}), k, one);
  const float expected[] = {-1, 1, 1, 1, -1, -1, std::tanh(0.5f), 1};
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_NEAR(y.data()[i], expected[i], 1e-6f) << i;
  EXPECT_TRUE(std::isnan(additive_scores(Tensor::full({1, 1, 1}, std::nanf("")), k, one).data()[1]));
}

TEST(AdditiveScores, OneThreadEqualsTwo) {
  const Tensors in{normal({37, 3, 70}, 1), normal({37, 5, 70}, 2), normal({70}, 3)};
  const auto run = [&](int count) {
    set_threads(count);
    return test::gradients_of([](const Tensors& x) { return Tensors{scores(x)}; }, in);
  };
  const int before = threads();
  const test::Gradients one = run(1), two = run(2);
  set_threads(before);
  const auto same = [](const Tensor& a, const Tensor& b) { return std::memcmp(a.raw(), b.raw(), a.bytes()) == 0; };
  EXPECT_TRUE(same(one.results[0], two.results[0]));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(same(one.inputs[i], two.inputs[i])) << "gradient " << i;
}

TEST(AdditiveScores, EmptyTensorsWork) {
  for (const auto& [b, t, s] : {std::array{0, 2, 3}, {2, 0, 3}, {2, 3, 0}}) {
    const test::Gradients got = test::gradients_of([](const Tensors& x) { return Tensors{scores(x)}; },
                                                   {normal({b, t, 4}), normal({b, s, 4}), normal({4})});
    EXPECT_EQ(got.results[0].shape(), (Shape{b, t, s}));
    EXPECT_TRUE(test::close(got.inputs[2], Tensor::zeros({4})));
  }
}

TEST(AdditiveScores, WrongShapesAreReported) {
  const Tensor q = normal({2, 3, 4}), k = normal({2, 5, 4}), v = normal({4});
  EXPECT_ERROR(additive_scores(q, normal({2, 5, 3}), v), "[additive_scores]");
  EXPECT_ERROR(additive_scores(q, normal({1, 5, 4}), v), "q [2, 3, 4], k [1, 5, 4] and v [4]");
  EXPECT_ERROR(additive_scores(q, k, v, Tensor::ids({1}, {1})), "lengths");
  EXPECT_ERROR(additive_scores(q, k, v, Tensor::ids({1, 6}, {2})), "got 6, expected 0 to 5");
}

}  // namespace
}  // namespace attend
