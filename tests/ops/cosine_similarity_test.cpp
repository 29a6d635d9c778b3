#include "attend/ops/cosine_similarity.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;
using test::Tensors;

Tensor similarity(const Tensors& x) { return cosine_similarity(x[0], x[1]); }

TEST(CosineSimilarity, EqualsPyTorch) {
  const SafetensorsFile file = test::golden("scores");
  const test::Gradients got = test::gradients_of([](const Tensors& x) { return Tensors{similarity(x)}; },
                                                 {file.get("cosine/q").copy(), file.get("cosine/k").copy()},
                                                 [&](const Tensors&) { return Tensors{file.get("cosine/seed")}; });
  EXPECT_TRUE(test::close(got.results[0], file.get("cosine/y"), {1e-5f, 1e-6f}));
  EXPECT_TRUE(test::close(got.inputs[0], file.get("cosine/d/q"), {1e-4f, 1e-6f}));
  EXPECT_TRUE(test::close(got.inputs[1], file.get("cosine/d/k"), {1e-4f, 1e-6f}));
}

TEST(CosineSimilarity, RowsShorterThanEpsilonEqualPyTorch) {
  const SafetensorsFile file = test::golden("scores");
  EXPECT_TRUE(test::close(cosine_similarity(file.get("cosine_short/q"), file.get("cosine_short/k")),
                          file.get("cosine_short/y"), {1e-4f, 1e-6f}));
}

TEST(CosineSimilarity, GradientsMatchFiniteDifferences) {
  test::expect_gradients(similarity, {normal({2, 3, 5}, 1), normal({2, 4, 5}, 2)});
  // A row with a norm below eps is only scaled.
  test::expect_gradients([](const Tensors& x) { return cosine_similarity(x[0], x[1], 100.f); },
                         {normal({1, 3, 17}, 1), normal({1, 2, 17}, 2)});
}

TEST(CosineSimilarity, EmptyTensorsWork) {
  EXPECT_EQ(cosine_similarity(normal({0, 2, 3}), normal({0, 4, 3})).shape(), (Shape{0, 2, 4}));
  EXPECT_EQ(cosine_similarity(normal({2, 0, 3}), normal({2, 4, 3})).shape(), (Shape{2, 0, 4}));
}

TEST(CosineSimilarity, WrongShapesAreReported) {
  EXPECT_ERROR(cosine_similarity(normal({2, 3, 4}), normal({2, 3, 5})), "[cosine_similarity]");
  EXPECT_ERROR(cosine_similarity(normal({2, 3, 4}), normal({2, 3, 5})), "q [2, 3, 4] and k [2, 3, 5]");
  EXPECT_ERROR(cosine_similarity(normal({1, 1, 1}), normal({1, 1, 1}), 0.f), "eps");
}

}  // namespace
}  // namespace attend
