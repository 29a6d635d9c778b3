#include "attend/ops/mask.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace attend {
namespace {

Tensor flags(const Shape& shape) { return Tensor::zeros(shape, DType::i8); }

TEST(Mask, PartsAreCombined) {
  const Mask mask = Mask::causal() & Mask::keys(std::vector<std::int64_t>{3, 5}) &
                    Mask::keys(std::vector<std::int64_t>{4, 2}) & Mask::allowed(flags({2, 6}));
  EXPECT_TRUE(mask.is_causal());
  EXPECT_EQ(mask.lengths(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(mask.matrix().shape(), (Shape{2, 6}));
  EXPECT_FALSE((Mask::none() & Mask()).is_causal());
  EXPECT_EQ(mask.window_distance(), -1);
  EXPECT_EQ((mask & Mask::window(4)).window_distance(), 4);
  EXPECT_EQ((Mask::window(3) & Mask::window(4)).window_distance(), 3);
}

TEST(Mask, LengthsCanBeATensor) {
  EXPECT_EQ(Mask::keys(Tensor::ids({2, 0, 7}, {3})).lengths(), (std::vector<std::int64_t>{2, 0, 7}));
}

TEST(Mask, EveryShapeOfTheMatrixIsAccepted) {
  for (const Shape& shape :
       {Shape{3, 5}, Shape{2, 3, 5}, Shape{1, 3, 5}, Shape{2, 4, 3, 5}, Shape{2, 1, 3, 5}, Shape{1, 4, 3, 5}})
    EXPECT_NO_THROW(Mask::allowed(flags(shape)).check("test", 2, 4, 3, 5)) << shape;
}

TEST(Mask, WrongShapesAreReported) {
  EXPECT_ERROR(Mask::allowed(flags({5, 3})).check("attention", 2, 4, 3, 5), "[attention] ");
  EXPECT_ERROR(Mask::allowed(flags({5, 3})).check("attention", 2, 4, 3, 5), "got [5, 3], expected [3, 5]");
  EXPECT_ERROR(Mask::allowed(flags({3, 3, 5})).check("attention", 2, 4, 3, 5), "[2, 3, 5]");
  EXPECT_ERROR(Mask::allowed(flags({2, 3, 3, 5})).check("attention", 2, 4, 3, 5), "[2, 4, 3, 5]");
  EXPECT_ERROR(Mask::keys(std::vector<std::int64_t>{1, 2, 3}).check("attention", 2, 4, 3, 5),
               "got 3 lengths, expected 2");
  EXPECT_ERROR(Mask::keys(std::vector<std::int64_t>{1, 6}).check("attention", 2, 4, 3, 5), "got 6, expected at most 5");
}

TEST(Mask, EmptyLengthsNeedAnEmptyBatch) {
  const Mask keys = Mask::causal() & Mask::keys(std::vector<std::int64_t>{});
  for (const Mask& mask : {keys, keys & Mask(), Mask() & keys}) {
    EXPECT_NO_THROW(mask.check("attention", 0, 4, 3, 5));
    EXPECT_ERROR(mask.check("attention", 2, 4, 3, 5), "expected 2");
  }
  EXPECT_ERROR(keys & Mask::keys(std::vector<std::int64_t>{1}), "different batches");
}

TEST(Mask, InvalidPartsAreReported) {
  EXPECT_ERROR(Mask::allowed(Tensor::zeros({2, 2})), "expected int8");
  EXPECT_ERROR(Mask::allowed(flags({4})), "[T, S]");
  EXPECT_ERROR(Mask::keys(std::vector<std::int64_t>{-1}), "negative");
  EXPECT_ERROR(Mask::window(-2), "got -2");
  EXPECT_ERROR(Mask::allowed(flags({2, 2})) & Mask::allowed(flags({2, 2})), "only one matrix");
  EXPECT_ERROR(Mask::keys(std::vector<std::int64_t>{1}) & Mask::keys(std::vector<std::int64_t>{1, 2}),
               "different batches");
}

}  // namespace
}  // namespace attend
