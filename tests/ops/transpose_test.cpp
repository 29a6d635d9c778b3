#include "attend/ops/transpose.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

TEST(Transpose, TwiceIsTheIdentityForEveryPair) {
  const Tensor x = test::normal({3, 17, 5, 19});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_EQ(transpose(transpose(x, i, j), i, j).to_vector(), x.to_vector()) << i << j;
}

TEST(Transpose, AMissingDimensionIsReported) {
  EXPECT_ERROR(transpose(Tensor::zeros({2, 3}), 0, 2), "[transpose] there is no dimension 2 in x [2, 3]");
}

}  // namespace
}  // namespace attend
