#include "attend/attention/scores.h"

#include <gtest/gtest.h>

#include "attend/nn/module.h"
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

TEST(Scores, EveryScoreEqualsPyTorch) {
  const SafetensorsFile file = golden("attention");
  const Tensor q = file.get("q"), k = file.get("k");
  for (const auto& [name, score] : test::golden_scores(file))
    EXPECT_TRUE(close(score(q, score.keys(k)), file.get(name + "/scores"), {1e-5f, 1e-5f})) << name;
}

TEST(Scores, GradientsOfInputsAndParametersMatchFiniteDifferences) {
  const Tensor q = normal({2, 3, 4}, 1), k = normal({2, 5, 4}, 2);
  test::expect_gradients(
      [](const Tensors& x) {
        Additive additive;
        additive.query.weight = x[2], additive.key.weight = x[3], additive.v = x[4];
        return additive(x[0], additive.keys(x[1]));
      },
      {q, k, normal({6, 4}, 3, 0.5f), normal({6, 4}, 4, 0.5f), normal({6}, 5)});
  test::expect_gradients(
      [](const Tensors& x) {
        General general;
        general.key.weight = x[2];
        return general(x[0], general.keys(x[1]));
      },
      {q, k, normal({4, 4}, 3, 0.5f)});
  test::expect_gradients([](const Tensors& x) { return Content{x[2]}(x[0], x[1]); }, {q, k, Tensor::scalar(2.f)});
  test::expect_gradients([](const Tensors& x) { return Gaussian{x[2]}(x[0], x[1]); }, {q, k, Tensor::scalar(0.7f)});
  test::expect_gradients([](const Tensors& x) { return ScaledDot()(x[0], x[1]); }, {q, k});
}

TEST(Scores, AScoreVisitsTheParametersOfItsAlternative) {
  Score score = Additive(4, 5, 6);
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(score)) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"query.weight", "key.weight", "v"}));
  score = Dot();
  EXPECT_TRUE(parameters(score).empty());
}

TEST(Scores, WrongShapesAreReported) {
  const Tensor q = Tensor::zeros({2, 3, 4}), k = Tensor::zeros({2, 5, 6});
  EXPECT_ERROR(Dot()(q, k), "[dot] queries and keys do not fit: got q [2, 3, 4] and k [2, 5, 6]");
  EXPECT_ERROR(Location(4, 3)(q, k), "[location] more keys than learned positions: got 5, expected at most 3");
}

}  // namespace
}  // namespace attend
