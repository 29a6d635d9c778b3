#include "attend/ops/recompute.h"

#include <gtest/gtest.h>

#include "attend/core/memory.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"
#include "attend/ops/linear.h"
#include "attend/ops/tape.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;

/// Layers with dropout that share one weight, each computed again in the backward pass or not.
struct Trained {
  Tensor weight = normal({16, 16}, 1, 0.3f), x = normal({6, 16}, 2);

  std::vector<float> gradients(bool again, int layers) {
    default_generator().restore(3, 0);
    require_grad(weight), require_grad(x);
    zero_grad(weight), zero_grad(x);
    const Training training;
    Tensor h = x;
    for (int i = 0; i < layers; ++i) {
      const auto layer = [this, h] {
        const Tensor y = h + dropout(linear(h, weight, {}, Activation::gelu), 0.2f);
        return std::vector<Tensor>{y, y};
      };
      h = again ? recompute({&h, 1}, layer)[i % 2] : layer()[0];
    }
    backward(h, Tensor::full(h.shape(), 1.f));
    std::vector<float> all = h.to_vector();
    for (const Tensor& leaf : {weight, x}) {
      const std::vector<float> values = grad(leaf).to_vector();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
};

TEST(Recompute, ResultsAndGradientsHaveTheSameBits) {
  Trained trained;
  EXPECT_EQ(trained.gradients(true, 7), trained.gradients(false, 7));
}

TEST(Recompute, TakesNoMoreStreamsOfRandomNumbersThanTheForwardPass) {
  Trained trained;
  trained.gradients(false, 4);
  const std::uint64_t used = default_generator().streams_used();
  trained.gradients(true, 4);
  EXPECT_EQ(default_generator().streams_used(), used);
}

TEST(Recompute, WithoutRecordingItIsTheFunction) {
  const NoGrad no_grad;
  const Tensor x = normal({2, 2});
  EXPECT_FALSE(requires_grad(recompute({&x, 1}, [&] { return std::vector<Tensor>{x + x}; })[0]));
  const Recompute scope;
  EXPECT_FALSE(recomputing());
}

}  // namespace
}  // namespace attend
