#include "attend/ops/reduce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

TEST(Reduce, WrongInputIsReported) {
  const Tensor x = Tensor::zeros({2, 3, 5});
  EXPECT_ERROR(sum(x, 3), "[sum] there is no dimension 3 in x [2, 3, 5]");
  EXPECT_ERROR(mean(x, -4), "[mean] there is no dimension -4");
  EXPECT_ERROR(max(Tensor::zeros({2, 0}), 1), "[max] an empty dimension has no maximum: got x [2, 0] and dimension 1");
  EXPECT_ERROR(argmax(Tensor::zeros({0}), 0), "[argmax] ");
  EXPECT_ERROR(sum(Tensor::zeros({2}, DType::i32), 0), "[sum] x has the wrong dtype: got int32");
  EXPECT_ERROR(sum(x, Tensor::ids({1}, {1})), "[sum] lengths do not fit the batch: got [1], expected [2]");
  EXPECT_ERROR(mean(x, Tensor::ids({1, 4}, {2})),
               "[mean] the length of sequence 1 is out of range: got 4, expected 0 to 3");
  EXPECT_ERROR(max(x, Tensor::ids({-1, 2}, {2})), "[max] the length of sequence 0 is out of range: got -1");
  EXPECT_ERROR(sum(Tensor::zeros({2, 3}), Tensor::ids({1, 2}, {2})), "got [2, 3], expected [B, T, D] with lengths");
}

TEST(Reduce, LongSumsArePrecise) {
  for (const Shape& shape : {Shape{1'000'003}, Shape{100'003, 7}, Shape{3, 50'021, 2}}) {
    const Tensor x = Tensor::full(shape, 0.1f);
    EXPECT_NEAR(sum(x).item() / static_cast<float>(x.numel()), 0.1f, 2e-6f);
    EXPECT_NEAR(mean(x).item(), 0.1f, 2e-6f);
  }
  const Tensor rows = sum(Tensor::full({100'003, 7}, 0.1f), 0);
  for (const float value : rows.span()) EXPECT_NEAR(value, 10000.3f, 0.1f);
}

TEST(Reduce, TheFirstOfEqualElementsGetsTheGradient) {
  for (const bool transposed : {false, true}) {
    Tensor x = Tensor::from({1, 3, 3, 2}, transposed ? Shape{4, 1} : Shape{1, 4});
    require_grad(x);
    backward(max(x, transposed ? 0 : 1), Tensor::full({1}, 5.f));
    EXPECT_EQ(grad(x).to_vector(), (std::vector<float>{0, 5, 0, 0}));
  }
}

TEST(Reduce, NaNIsTheLargest) {
  std::vector<float> values(37, 1.f);
  values[20] = NAN;
  values[30] = 7.f;
  const Tensor x = Tensor::from(values, {37});
  EXPECT_TRUE(std::isnan(max(x).item()));
  EXPECT_EQ(argmax(x, 0).data<std::int32_t>()[0], 20);
  EXPECT_EQ(argmax(x.reshape({37, 1}), 0).data<std::int32_t>()[0], 20);
  const Tensor wide = Tensor::from({1, NAN, 2, 5, 3, NAN}, {3, 2});
  EXPECT_EQ(max(wide, 0).data()[0], 3.f);
  EXPECT_EQ(argmax(wide, 0).data<std::int32_t>()[1], 0);
}

TEST(Reduce, LengthsEqualShorterSequences) {
  const Tensor x = test::normal({3, 7, 5});
  const Tensor lengths = Tensor::ids({7, 0, 3}, {3});
  for (std::int64_t b = 0; b < 3; ++b) {
    const Tensor cut = x.view_rows(b, b + 1).reshape({7, 5}).view_rows(0, lengths.data<std::int32_t>()[b]);
    const Tensor expected = sum(cut, 0), got = sum(x, lengths).view_rows(b, b + 1);
    for (std::int64_t i = 0; i < 5; ++i) EXPECT_FLOAT_EQ(got.data()[i], expected.data()[i]);
  }
}

}  // namespace
}  // namespace attend
