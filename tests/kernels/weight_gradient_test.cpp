#include "attend/kernels/weight_gradient.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;

TEST(WeightGradient, IsTheProductOverAllRows) {
  struct Case {
    std::int64_t rows, m, n, cut;  // cut: the first row of the second piece
  };
  for (const auto& [rows, m, n, cut] : {Case{1, 1, 1, 1},
                                        {300, 7, 33, 140},
                                        {129, 50, 16, 1},
                                        {5, 97, 64, 0},
                                        {0, 3, 2, 0},
                                        {7, 41, 300, 3},     // several blocks of columns
                                        {200, 3, 520, 0},    // several pieces of depth
                                        {3, 1031, 259, 3}})  // a single large piece, which is computed by matmul()

    for (const bool accumulate : {false, true}) {
      const Tensor dy = normal({rows, m}, 1), x = normal({rows, n}, 2), start = normal({m, n}, 3);
      const Tensor expected = Tensor::empty({m, n});
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = accumulate ? static_cast<double>(start.data()[i * n + j]) : 0;
          for (std::int64_t r = 0; r < rows; ++r)
            sum += static_cast<double>(dy.data()[r * m + i]) * static_cast<double>(x.data()[r * n + j]);
          expected.data()[i * n + j] = static_cast<float>(sum);
        }
      const Tensor dw = start.copy();
      std::vector<kernels::BatchRows> pieces{{cut, dy.data(), x.data()}};
      if (cut < rows) pieces.push_back({rows - cut, dy.data() + cut * m, x.data() + cut * n});
      kernels::weight_gradient({.m = m, .n = n, .accumulate = accumulate}, pieces, dw.data());
      EXPECT_TRUE(test::close(dw, expected, {1e-5f, 2e-5f})) << rows << " rows, " << m << " x " << n;
    }
}

}  // namespace
}  // namespace attend
