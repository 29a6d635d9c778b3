#include "attend/ops/gather.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace attend {
namespace {

TEST(Gather, WrongIdsAreReported) {
  const Tensor x = Tensor::zeros({2, 3, 4});
  EXPECT_ERROR(gather(x, Tensor::ids({0, 3}, {2})),
               "[gather] id 3 at position 1 of ids [2] is out of range, expected 0 to 2");
  EXPECT_ERROR(gather(x, Tensor::ids({0}, {1})), "[gather] ids do not fit x: got x [2, 3, 4] and ids [1]");
  EXPECT_ERROR(gather(x, Tensor::zeros({2})), "[gather] ids has the wrong dtype: got float32");
  EXPECT_ERROR(index_select(x, Tensor::ids({4}, {1}), 2), "[index_select] id 4 at position 0");
  EXPECT_ERROR(index_select(x, Tensor::ids({0}, {1, 1}), 0), "[index_select] wrong shape of ids: got [1, 1]");
}

}  // namespace
}  // namespace attend
