#include "attend/kernels/best.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace attend::kernels {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct Best {
  std::vector<float> log_sums, values;
  std::vector<std::int32_t> places;
};
Best best_of(const std::vector<float>& x, std::int64_t rows, std::int64_t k) {
  Best best{std::vector<float>(static_cast<std::size_t>(rows)), std::vector<float>(static_cast<std::size_t>(rows * k)),
            std::vector<std::int32_t>(static_cast<std::size_t>(rows * k))};
  best_of_rows(rows, static_cast<std::int64_t>(x.size()) / std::max<std::int64_t>(rows, 1), x.data(), k,
               best.log_sums.data(), best.values.data(), best.places.data());
  return best;
}

TEST(BestOfRows, EqualTheResultOfSortingForAllSizes) {
  std::mt19937 random(1);
  for (const std::int64_t cols : {1, 7, 255, 256, 257, 1031, 5000})
    for (const std::int64_t k : {1, 2, 8, 20, 300}) {
      const std::int64_t rows = 3;
      std::vector<float> x(static_cast<std::size_t>(rows * cols));
      // Few distinct values, so that many are equal.
      for (float& value : x) value = static_cast<float>(random() % 2000) / 100.f - 10.f;
      for (std::size_t i = 0; i < x.size(); i += 5) x[i] = kMinusInfinity;
      const Best best = best_of(x, rows, k);
      for (std::int64_t row = 0; row < rows; ++row) {
        const float* at = x.data() + row * cols;
        std::vector<std::int32_t> order;
        double sum = 0;
        for (std::int32_t i = 0; i < cols; ++i) {
          if (at[i] > kMinusInfinity) order.push_back(i);
          sum += std::exp(static_cast<double>(at[i]));
        }
        std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) { return at[a] > at[b]; });
        for (std::int64_t i = 0; i < k; ++i) {
          const auto n = static_cast<std::size_t>(row * k + i);
          const bool there = i < static_cast<std::int64_t>(order.size());
          EXPECT_EQ(best.places[n], there ? order[static_cast<std::size_t>(i)] : -1) << cols << " columns, " << i;
          EXPECT_EQ(best.values[n], there ? at[order[static_cast<std::size_t>(i)]] : kMinusInfinity);
        }
        const float log_sum = best.log_sums[static_cast<std::size_t>(row)];
        if (order.empty())
          EXPECT_EQ(log_sum, kMinusInfinity);
        else
          EXPECT_NEAR(log_sum, std::log(sum), 1e-5);
      }
    }
}

TEST(BestOfRows, EmptyInputAndRowsOfMinusInfinityWork) {
  EXPECT_TRUE(best_of({}, 0, 4).places.empty());
  const Best best = best_of({kMinusInfinity, kMinusInfinity}, 1, 2);
  EXPECT_EQ(best.places, (std::vector<std::int32_t>{-1, -1}));
  EXPECT_EQ(best.log_sums[0], kMinusInfinity);
}

}  // namespace
}  // namespace attend::kernels
