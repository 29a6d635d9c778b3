#include "attend/ops/embedding_bag.h"

#include <gtest/gtest.h>

#include "attend/core/threads.h"
#include "attend/ops/embedding.h"
#include "attend/ops/reduce.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;
using test::Tensors;

TEST(EmbeddingBag, EqualsTheSumOfWeightedRows) {
  for (const std::int64_t width : {1, 3, 16, 37}) {
    const Tensor table = normal({7, width}, 1), rows = normal({4, width}, 2);
    const std::vector<std::int32_t> ids{0, 6, -1, 3, 3, 3}, positions{0, 1, 0, 3, 2, 1};
    const Tensor y = embedding_bag(table, Tensor::ids(ids, {2, 3}), {rows, Tensor::ids(positions, {2, 3})});
    const Tensor expected = Tensor::zeros({2, width});
    for (std::size_t i = 0; i < ids.size(); ++i)
      for (std::int64_t k = 0; k < width && ids[i] >= 0; ++k)
        expected.data()[static_cast<std::int64_t>(i / 3) * width + k] +=
            rows.data()[positions[i] * width + k] * table.data()[ids[i] * width + k];
    EXPECT_TRUE(test::close(y, expected, {1e-5f, 1e-5f})) << "width " << width;
  }
}

TEST(EmbeddingBag, WithoutWeightsEqualsTheSumOfAnEmbedding) {
  const Tensor table = normal({5, 19}, 1), ids = Tensor::ids({4, 0, 1, 2, 2, 3}, {1, 2, 3});
  EXPECT_TRUE(test::close(embedding_bag(table, ids), sum(embedding(table, ids), 2), {1e-6f, 1e-6f}));
}

TEST(EmbeddingBag, GradientsMatchFiniteDifferences) {
  const Tensor ids = Tensor::ids({0, 2, 2, -1, 4, 1}, {2, 3}), positions = Tensor::ids({0, 1, 2, 0, 1, 0}, {2, 3});
  for (const std::int64_t width : {1, 5, 21}) {
    const BagWeights weights{normal({3, width}, 3), positions};
    test::expect_gradients([&](const Tensors& x) { return embedding_bag(x[0], ids, weights); },
                           {normal({5, width}, 1)});
    test::expect_gradients([&](const Tensors& x) { return embedding_bag(x[0], ids); }, {normal({5, width}, 1)});
  }
}

TEST(EmbeddingBag, HasTheSameBitsWithAnyNumberOfThreads) {
  const Tensor table = normal({89, 70}, 1), ids = test::random_ids({400, 9}, 89);
  const BagWeights weights{normal({11, 70}, 2), test::random_ids({400, 9}, 11)};
  const auto run = [&](int count) {
    const int before = threads();
    set_threads(count);
    const test::Gradients found =
        test::gradients_of([&](const Tensors& x) { return Tensors{embedding_bag(x[0], ids, weights)}; }, {table});
    set_threads(before);
    std::vector<float> all = found.results[0].to_vector();
    for (const float value : found.inputs[0].span()) all.push_back(value);
    return all;
  };
  EXPECT_EQ(run(1), run(3));
}

TEST(EmbeddingBag, EmptyBagsAreZero) {
  const Tensor table = normal({3, 4});
  EXPECT_EQ(embedding_bag(table, Tensor::ids({-1, -1}, {1, 2})).to_vector(), std::vector<float>(4, 0.f));
  EXPECT_EQ(embedding_bag(table, Tensor::empty({2, 0}, DType::i32)).to_vector(), std::vector<float>(8, 0.f));
  EXPECT_EQ(embedding_bag(table, Tensor::empty({0, 2}, DType::i32)).shape(), (Shape{0, 4}));
}

TEST(EmbeddingBag, WrongInputsAreReported) {
  const Tensor table = normal({3, 4}), ids = Tensor::ids({0, 1}, {1, 2});
  EXPECT_ERROR(embedding_bag(table, Tensor::ids({0, 3}, {1, 2})),
               "[embedding_bag] id 3 at position 1 of ids [1, 2] is out of range, expected -1 to 2");
  EXPECT_THROW(embedding_bag(table, Tensor::ids({-2}, {1, 1})), InputError);
  EXPECT_ERROR(embedding_bag(normal({3}), ids), "[embedding_bag] wrong shape of the table: got [3]");
  EXPECT_ERROR(embedding_bag(table, ids, {normal({2, 5}), ids}), "got [2, 5], expected [P, 4]");
  EXPECT_ERROR(embedding_bag(table, ids, {normal({2, 4}), Tensor::ids({0}, {1, 1})}), "positions do not fit the ids");
  EXPECT_ERROR(embedding_bag(table, ids, {normal({1, 4}), ids}), "id 1 at position 1");
}

}  // namespace
}  // namespace attend
