// The mixture is compared with PyTorch (tests/golden/pointer.py) and with its definition.
#include "attend/ops/pointer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/core/threads.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/softmax.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::Tensors;

/// Sources of different lengths, with repeated ids.
PointerSources some_sources(std::int64_t B, std::int64_t S, std::int64_t V) {
  Tensor ids = test::random_ids({B, S}, static_cast<std::int32_t>(V)), lengths = Tensor::empty({B}, DType::i32);
  for (std::int64_t b = 0; b < B; ++b) {
    lengths.data<std::int32_t>()[b] =
        static_cast<std::int32_t>(std::max<std::int64_t>(S - b, std::min<std::int64_t>(S, 1)));
    if (S > 2) ids.data<std::int32_t>()[b * S + 1] = ids.data<std::int32_t>()[b * S];
  }
  return pointer_sources(ids, lengths);
}

TEST(PointerMixture, MatchesPyTorchWithItsGradients) {
  const SafetensorsFile file = test::golden("pointer");
  const auto golden = [&](const char* name) { return file.get("mixture/" + std::string(name)); };
  const PointerSources sources = pointer_sources(golden("ids"), golden("lengths"));
  const test::Gradients all = test::gradients_of(
      [&](const Tensors& in) { return Tensors{pointer_mixture(in[0], in[1], in[2], sources)}; },
      {golden("logits"), golden("weights"), golden("gate")}, [&](const Tensors&) { return Tensors{golden("dy")}; });
  EXPECT_TRUE(test::close(all.results[0], golden("out"), {1e-5f, 1e-5f}));
  EXPECT_TRUE(test::close(all.inputs[0], golden("dlogits"), {1e-4f, 1e-5f}));
  EXPECT_TRUE(test::close(all.inputs[1], golden("dweights"), {1e-4f, 1e-5f}));
  EXPECT_TRUE(test::close(all.inputs[2], golden("dgate"), {1e-4f, 1e-5f}));
}

TEST(PointerMixture, GradientsMatchFiniteDifferencesInOddShapes) {
  struct Sizes {
    std::int64_t B, T, S, V;
  };
  for (const auto& [B, T, S, V] : {Sizes{1, 1, 1, 1}, Sizes{2, 3, 5, 7}, Sizes{3, 2, 9, 67}, Sizes{1, 2, 3, 16}}) {
    const PointerSources sources = some_sources(B, S, V);
    test::expect_gradients(
        [&](const Tensors& in) {
          // Only weights within the lengths count, and they are positive.
          return Tensors{pointer_mixture(in[0], softmax(in[1]), in[2], sources)};
        },
        {test::normal({B, T, V}, 1), test::normal({B, T, S}, 2), test::normal({B, T, 1}, 3)});
  }
}

TEST(PointerMixture, RowsAreLogarithmsOfDistributionsAtExtremeGates) {
  const std::int64_t V = 53, S = 6;
  const Tensor ids = test::random_ids({1, S}, 53);
  const PointerSources sources = pointer_sources(ids, Tensor::ids({S}, {1}));
  for (const float gate : {-200.f, -30.f, 0.f, 30.f, 200.f}) {
    const Tensor y = pointer_mixture(test::normal({1, 2, V}, 1, 30.f), softmax(test::normal({1, 2, S}, 2)),
                                     Tensor::full({1, 2, 1}, gate), sources);
    for (std::int64_t t = 0; t < 2; ++t) {
      double sum = 0;
      for (std::int64_t v = 0; v < V; ++v) {
        ASSERT_TRUE(std::isfinite(y.data()[t * V + v])) << gate;
        sum += std::exp(static_cast<double>(y.data()[t * V + v]));
      }
      EXPECT_NEAR(sum, 1, 1e-5) << gate;
    }
  }
}

TEST(PointerMixture, GradientsStayFiniteWhereATokenIsImpossible) {
  Tensor logits = Tensor::zeros({1, 1, 3}), weights = Tensor::from({1.f, 0.f}, {1, 1, 2});
  logits.data()[1] = -500.f;  // id 1 is neither generated nor copied
  const PointerSources sources = pointer_sources(Tensor::ids({0, 1}, {1, 2}), Tensor::ids({2}, {1}));
  const test::Gradients all =
      test::gradients_of([&](const Tensors& in) { return Tensors{pointer_mixture(in[0], in[1], in[2], sources)}; },
                         {logits, weights, Tensor::zeros({1, 1, 1})});
  for (const Tensor& gradient : all.inputs)
    for (const float value : gradient.to_vector()) EXPECT_TRUE(std::isfinite(value));
}

TEST(PointerMixture, WeightsBeyondASourceAreNotRead) {
  const PointerSources sources = pointer_sources(Tensor::ids({4, 2, 2, 9}, {1, 4}), Tensor::ids({3}, {1}));
  const Tensor logits = test::normal({1, 1, 11}), gate = Tensor::zeros({1, 1, 1});
  const Tensor weights = Tensor::from({0.5f, 0.2f, 0.3f, 77.f}, {1, 1, 4});
  const Tensor y = pointer_mixture(logits, weights, gate, sources);
  weights.data()[3] = 0.f;
  EXPECT_EQ(pointer_mixture(logits, weights, gate, sources).to_vector(), y.to_vector());
  const Tensor longer =
      pointer_mixture(logits, weights, gate, pointer_sources(Tensor::ids({4, 2, 2, 9}, {1, 4}), Tensor::ids({4}, {1})));
  EXPECT_EQ(longer.to_vector(), y.to_vector()) << "a weight of 0 changes no bit";
}

TEST(PointerMixture, OneThreadEqualsTwo) {
  const PointerSources sources = some_sources(3, 17, 4099);
  const Tensors inputs = {test::normal({3, 5, 4099}), softmax(test::normal({3, 5, 17})), test::normal({3, 5, 1})};
  const test::Function f = [&](const Tensors& in) { return Tensors{pointer_mixture(in[0], in[1], in[2], sources)}; };
  set_threads(1);
  const test::Gradients one = test::gradients_of(f, inputs);
  set_threads(2);
  const test::Gradients two = test::gradients_of(f, inputs);
  EXPECT_EQ(one.results[0].to_vector(), two.results[0].to_vector());
  for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(one.inputs[i].to_vector(), two.inputs[i].to_vector());
}

TEST(PointerMixture, WrongInputIsReported) {
  const PointerSources sources = pointer_sources(Tensor::ids({1, 2}, {1, 2}), Tensor::ids({2}, {1}));
  const Tensor logits = test::normal({1, 3, 5}), weights = softmax(test::normal({1, 3, 2})),
               gate = Tensor::zeros({1, 3, 1});
  EXPECT_ERROR(pointer_mixture(logits, weights, Tensor::zeros({1, 3}), sources),
               "[pointer_mixture] the shapes do not fit: got logits [1, 3, 5], weights [1, 3, 2] and gate [1, 3]");
  EXPECT_ERROR(pointer_mixture(logits, weights, gate, {}), "one source for each sequence: got 0, expected 1");
  EXPECT_ERROR(pointer_mixture(logits, softmax(test::normal({1, 3, 1})), gate, sources),
               "source 0 is longer than its weights: got 2 tokens");
  EXPECT_ERROR(pointer_mixture(test::normal({1, 3, 2}), weights, gate, sources), "got 2, expected 0 to 1");
  EXPECT_ERROR(pointer_sources(Tensor::ids({1, 2}, {1, 2}), Tensor::ids({3}, {1})), "length");
}

TEST(PointerMixture, TheLossOfItsRowsIsTheNegativeLogProbability) {
  const PointerSources sources = some_sources(1, 4, 9);
  const Tensor y =
      pointer_mixture(test::normal({1, 2, 9}), softmax(test::normal({1, 2, 4})), test::normal({1, 2, 1}), sources);
  const Tensor targets = Tensor::ids({3, 8}, {1, 2});
  EXPECT_NEAR(cross_entropy(y, targets, {.reduction = Reduction::sum}).item(), -(y.data()[3] + y.data()[9 + 8]), 1e-5);
}

TEST(CoverageLoss, IsTheOverlapOfEachRowWithTheSumOfThoseBefore) {
  const Tensor w = Tensor::from({0.5f, 0.5f, 0.f,   // nothing before
                                 0.2f, 0.1f, 0.7f,  // min(w, [.5 .5 0]) = .2 + .1
                                 0.9f, 0.f, 0.1f},  // min(w, [.7 .6 .7]) = .7 + 0 + .1
                                {1, 3, 3});
  EXPECT_NEAR(coverage_loss(w, Tensor::ids({3}, {1})).item(), 0.3f + 0.8f, 1e-6);
  EXPECT_NEAR(coverage_loss(w, Tensor::ids({2}, {1})).item(), 0.3f, 1e-6);
  EXPECT_EQ(coverage_loss(w, Tensor::ids({1}, {1})).item(), 0.f);
  EXPECT_EQ(coverage_loss(Tensor::zeros({0, 0, 0}), Tensor::zeros({0}, DType::i32)).item(), 0.f);
}

TEST(CoverageLoss, GradientsMatchFiniteDifferences) {
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{2, 5, 3}, Shape{3, 4, 17}}) {
    Tensor lengths = Tensor::empty({shape[0]}, DType::i32);
    for (std::int64_t b = 0; b < shape[0]; ++b)
      lengths.data<std::int32_t>()[b] = static_cast<std::int32_t>(std::max<std::int64_t>(shape[1] - b, 1));
    // The sums before a row are far from its own weights: min() has a kink where they are equal.
    test::expect_gradients([&](const Tensors& in) { return Tensors{coverage_loss(in[0], lengths)}; },
                           {test::normal(shape, 5)}, {.step = 2e-3f, .tolerance = 1e-2f});
  }
}

TEST(CoverageLoss, WrongInputIsReported) {
  EXPECT_ERROR(coverage_loss(Tensor::zeros({2, 3}), Tensor::ids({1, 2}, {2})), "got weights [2, 3]");
  EXPECT_ERROR(coverage_loss(Tensor::zeros({2, 3, 4}), Tensor::ids({1, 4}, {2})), "sequence 1");
}

}  // namespace
}  // namespace attend
