#include "attend/core/shape.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/errors.h"

namespace attend {
namespace {

TEST(Shape, CountsElementsAndRows) {
  EXPECT_EQ(Shape({2, 3, 5}).numel(), 30);
  EXPECT_EQ(Shape({2, 3, 5}).rows(), 6);
  EXPECT_EQ(Shape().numel(), 1);
  EXPECT_EQ(Shape().rows(), 1);
  EXPECT_EQ(Shape({4, 0}).numel(), 0);
}

TEST(Shape, NegativeDimensionsCountFromTheEnd) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape[0], 2);
  EXPECT_ERROR(shape[3], "[shape] no such dimension: got 3 for [2, 3, 5]");
}

TEST(Shape, DimensionsAreReplacedRemovedAndInserted) {
  const Shape shape{2, 3};
  EXPECT_EQ(shape.with(-1, 7), Shape({2, 7}));
  EXPECT_EQ(shape.without(0), Shape({3}));
  EXPECT_EQ(shape.inserted(1, 9), Shape({2, 9, 3}));
}

TEST(Shape, InvalidShapesAreRefused) {
  EXPECT_ERROR(Shape({1, 1, 1, 1, 1}), "at most 4");
  EXPECT_ERROR(Shape({-1}), "negative");
  EXPECT_ERROR(Shape({std::int64_t{1} << 40, std::int64_t{1} << 40}), "too many elements");
  EXPECT_ERROR(Shape({std::int64_t{1} << 62}), "too many elements");  // 2^64 bytes would overflow to 0
}

TEST(Shape, PrintsAsAList) {
  std::ostringstream out;
  out << Shape({32, 25, 512}) << Shape();
  EXPECT_EQ(out.str(), "[32, 25, 512][]");
}

}  // namespace
}  // namespace attend
