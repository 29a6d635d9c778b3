#include "attend/ops/embedding.h"

#include <gtest/gtest.h>

#include "attend/core/convert.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

TEST(Embedding, AnIdOutOfRangeIsReportedWithItsPosition) {
  const Tensor table = Tensor::zeros({5, 3});
  EXPECT_ERROR(embedding(table, Tensor::ids({0, 1, 5, 2}, {2, 2})),
               "[embedding] id 5 at position 2 of ids [2, 2] is out of range, expected 0 to 4; does the tokenizer");
  EXPECT_THROW(embedding(table, Tensor::ids({5}, {1})), InputError);
  EXPECT_ERROR(embedding(table, Tensor::ids({-1}, {1})), "[embedding] id -1 at position 0");
  EXPECT_ERROR(embedding(Tensor::zeros({0, 3}), Tensor::ids({0}, {1})), "[embedding] id 0 at position 0");
}

TEST(Embedding, WrongShapesAndDtypesAreReported) {
  EXPECT_ERROR(embedding(Tensor::zeros({5}), Tensor::ids({0}, {1})), "[embedding] wrong shape of the table: got [5]");
  EXPECT_ERROR(embedding(Tensor::zeros({5, 3}), Tensor::zeros({1})),
               "[embedding] ids has the wrong dtype: got float32");
  EXPECT_ERROR(embedding(Tensor::zeros({5, 3}), Tensor::ids({0}, {1, 1, 1, 1})),
               "at most 3 dimensions: got [1, 1, 1, 1]");
}

TEST(Embedding, GradientsAreAddedToThoseOfATiedLayer) {
  Tensor table = test::normal({6, 4});
  require_grad(table);
  const Tensor ids = Tensor::ids({1, 4, 1}, {3});
  set_grad(table, Tensor::full({6, 4}, 100.f));
  backward(embedding(table, ids), Tensor::full({3, 4}, 1.f));
  const float expected[] = {100, 102, 100, 100, 101, 100};
  for (std::int64_t i = 0; i < 24; ++i) EXPECT_EQ(grad(table).data()[i], expected[i / 4]) << i;
}

TEST(Embedding, GradientsOfARepeatedIdAreSummed) {
  Tensor table = test::normal({3, 700});
  require_grad(table);
  const std::vector<std::int32_t> same(1000, 2);
  backward(embedding(table, Tensor::ids(same, {1000})), Tensor::full({1000, 700}, 1.f));
  for (std::int64_t i = 0; i < 2100; ++i) ASSERT_EQ(grad(table).data()[i], i < 1400 ? 0.f : 1000.f);
}

TEST(Embedding, HalfPrecisionTablesAreConverted) {
  const Tensor ids = Tensor::ids({4, 0, 2, 4}, {2, 2});
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor table = convert(test::normal({5, 19}), dtype);
    EXPECT_EQ(embedding(table, ids, {.scale = 3.f}).to_vector(),
              embedding(convert(table, DType::f32), ids, {.scale = 3.f}).to_vector());
    EXPECT_ERROR(embedding(table, Tensor::ids({5}, {1})), "out of range");
  }
}

}  // namespace
}  // namespace attend
