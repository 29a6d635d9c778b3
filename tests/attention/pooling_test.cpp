#include "attend/attention/pooling.h"

#include <gtest/gtest.h>

#include "attend/ops/arithmetic.h"
#include "attend/ops/reduce.h"
#include "attend/ops/tape.h"
#include "tests/attention/golden_scores.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::close;
using test::golden;
using test::normal;
using test::Tensors;

TEST(Pooling, EveryScoreWithALengthMaskEqualsPyTorch) {
  const SafetensorsFile file = golden("attention");
  for (const auto& [name, score] : test::golden_scores(file)) {
    Probe probe;
    const PoolingOptions options{.mask = Mask::keys(file.get("lengths")), .probe = &probe};
    const Tensor pooled = pool(score, file.get("q"), file.get("k"), file.get("v"), options);
    EXPECT_TRUE(close(pooled, file.get(name + "/pooled"), {1e-5f, 1e-5f})) << name;
    ASSERT_EQ(probe.records().size(), 1u);
    EXPECT_TRUE(close(probe.records()[0].weights.reshape({2, 3, 5}), file.get(name + "/weights"), {1e-5f, 1e-6f}))
        << name;
  }
}

TEST(Pooling, AProbeDoesNotChangeTheResult) {
  const Tensor q = normal({2, 3, 4}, 1), k = normal({2, 5, 4}, 2), v = normal({2, 5, 3}, 3);
  for (const Score& score : {Score(ScaledDot()), Score(Gaussian())}) {
    Probe probe;
    EXPECT_EQ(pool(score, q, k, v).to_vector(), pool(score, q, k, v, {.probe = &probe}).to_vector());
  }
}

TEST(Pooling, EveryMaskWorksWithEveryScoreAndAFullyMaskedQueryGivesZeros) {
  const Tensor q = normal({2, 3, 4}, 1), k = normal({2, 3, 4}, 2), v = normal({2, 3, 5}, 3);
  const std::vector<std::int8_t> flags = {1, 0, 1, 0, 0, 0, 1, 1, 1};
  const Tensor allowed = Tensor::from(std::span<const std::int8_t>(flags), {3, 3});
  for (const Mask& mask : {Mask::none(), Mask::causal(), Mask::keys(Tensor::ids({2, 0}, {2})),
                           Mask::causal() & Mask::keys(Tensor::ids({3, 1}, {2})), Mask::allowed(allowed)}) {
    Probe probe;
    const Tensor fused = pool(Dot(), q, k, v, {.mask = mask, .probe = &probe});
    const Tensor& weights = probe.records()[0].weights;  // [2, 1, 3, 3]
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t t = 0; t < 3; ++t)
        for (std::int64_t d = 0; d < 5; ++d) {
          double expected = 0;
          for (std::int64_t s = 0; s < 3; ++s)
            expected += static_cast<double>(weights.data()[(b * 3 + t) * 3 + s]) * v.data()[(b * 3 + s) * 5 + d];
          EXPECT_NEAR(fused.data()[(b * 3 + t) * 5 + d], expected, 1e-5);
        }
    test::expect_gradients([&](const Tensors& x) { return pool(Gaussian(), x[0], x[1], x[2], {.mask = mask}); },
                           {q, k, v});
    test::expect_gradients([&](const Tensors& x) { return pool(Dot(), x[0], x[1], x[2], {.mask = mask}); }, {q, k, v});
  }
  const Tensor masked = pool(Gaussian(), q, k, v, {.mask = Mask::keys(Tensor::ids({0, 0}, {2}))});
  EXPECT_EQ(masked.to_vector(), std::vector<float>(30, 0.f));
}

TEST(NadarayaWatson, TheUniformKernelGivesTheMean) {
  const Tensor x = Tensor::from({0, 1, 2}, {3}), y = Tensor::from({1, 2, 6}, {3});
  EXPECT_EQ(nadaraya_watson(Uniform(), x, x, y).to_vector(), (std::vector<float>{3, 3, 3}));
}

TEST(NadarayaWatson, ANarrowKernelReturnsTheNearestValue) {
  const Tensor x = Tensor::from({0, 1, 2}, {3}), y = Tensor::from({1, 2, 6}, {3});
  const Tensor f = nadaraya_watson(Gaussian{Tensor::scalar(50.f)}, Tensor::from({0.1f, 1.9f}, {2}), x, y);
  EXPECT_EQ(f.to_vector(), (std::vector<float>{1, 6}));
}

TEST(NadarayaWatson, AWidthLearnedByLeavingEachPointOutFitsBetterThanTheFixedOne) {
  // Noisy values of 2 sin x + x^0.8. The mask hides each point from itself.
  const std::int64_t n = 50;
  auto truth = [](float x) { return 2 * std::sin(x) + std::pow(x, 0.8f); };
  Generator generator(1);
  Tensor x = Tensor::empty({n}), y = Tensor::empty({n}), noise = Tensor::empty({n});
  fill_uniform(x, 0.f, 5.f, generator);
  fill_normal(noise, 0.f, 0.5f, generator);
  std::vector<std::int8_t> others(n * n, 1);
  for (std::int64_t i = 0; i < n; ++i) {
    y.data()[i] = truth(x.data()[i]) + noise.data()[i];
    others[static_cast<std::size_t>(i * n + i)] = 0;
  }
  const PoolingOptions leave_one_out{.mask = Mask::allowed(Tensor::from(std::span<const std::int8_t>(others), {n, n}))};
  Gaussian kernel;
  require_grad(kernel.inverse_width);
  for (int step = 0; step < 60; ++step) {
    const Tensor loss = mean(square(nadaraya_watson(kernel, x, x, y, leave_one_out) - y));
    backward(loss);
    kernel.inverse_width.data()[0] -= 0.5f * grad(kernel.inverse_width).item();
    zero_grad(kernel.inverse_width);
  }
  Tensor held_out = Tensor::empty({40}), expected = Tensor::empty({40});
  for (std::int64_t i = 0; i < 40; ++i)
    held_out.data()[i] = 0.125f * static_cast<float>(i), expected.data()[i] = truth(held_out.data()[i]);
  auto error = [&](const Score& score) {
    return mean(square(nadaraya_watson(score, held_out, x, y) - expected)).item();
  };
  EXPECT_LT(error(kernel), 0.6f * error(Gaussian()));
  EXPECT_LT(error(Gaussian()), error(Uniform()));
}

TEST(Pooling, WrongShapesAreReported) {
  EXPECT_ERROR(pool(Dot(), Tensor::zeros({2, 3, 4}), Tensor::zeros({2, 5, 4}), Tensor::zeros({2, 6, 4})),
               "[pool] queries, keys and values do not fit: got q [2, 3, 4], k [2, 5, 4] and v [2, 6, 4]");
  EXPECT_ERROR(nadaraya_watson(Gaussian(), Tensor::zeros({3}), Tensor::zeros({4}), Tensor::zeros({5})),
               "[nadaraya_watson]");
}

}  // namespace
}  // namespace attend
