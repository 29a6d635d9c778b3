#include "attend/kernels/weight_gradient.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

using test::normal;

TEST(WeightGradient, IsTheProductOverAllRows) {
  struct Case {
    std::int64_t rows, m, n, gap, cut;  // cut: where the second piece begins
  };
  for (const auto& [rows, m, n, gap, cut] :
       {Case{1, 1, 1, 0, 1}, {300, 7, 33, 0, 140}, {129, 50, 16, 3, 1}, {5, 97, 64, 1, 0}, {0, 3, 2, 0, 0}})
    for (const bool accumulate : {false, true}) {
      const Tensor dy = normal({rows, m + gap}, 1), x = normal({rows, n}, 2), start = normal({m, n}, 3);
      const Tensor expected = Tensor::empty({m, n});
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = accumulate ? static_cast<double>(start.data()[i * n + j]) : 0;
          for (std::int64_t r = 0; r < rows; ++r)
            sum += static_cast<double>(dy.data()[r * (m + gap) + i]) * static_cast<double>(x.data()[r * n + j]);
          expected.data()[i * n + j] = static_cast<float>(sum);
        }
      const Tensor dw = start.copy();
      const kernels::BatchRows pieces[] = {{cut, dy.data(), x.data()},
                                           {rows - cut, dy.data() + cut * (m + gap), x.data() + cut * n}};
      kernels::weight_gradient({.m = m, .n = n, .dy_stride = m + gap, .accumulate = accumulate}, pieces, dw.data());
      EXPECT_TRUE(test::close(dw, expected, {1e-5f, 2e-5f})) << rows << " rows, " << m << " x " << n;
    }
}

}  // namespace
}  // namespace attend
