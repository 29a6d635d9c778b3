#include "attend/tasks/embedding/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/core/random.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

double cosine(const float* a, const float* b, std::int64_t n) {
  double ab = 0, aa = 0, bb = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    ab += x * y, aa += x * x, bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

TEST(Nearest, FindsTheSameRowsAsASortOfAllCosines) {
  const std::int64_t Q = 3, N = 9001, D = 17;
  Generator generator(5);
  Tensor queries = Tensor::empty({Q, D}), rows = Tensor::empty({N, D});
  fill_uniform(queries, -1.f, 1.f, generator);
  fill_uniform(rows, -1.f, 1.f, generator);
  Nearest nearest(queries, 10);
  nearest.add(rows.view_rows(0, 5000));
  nearest.add(rows.view_rows(5000, 5001));
  nearest.add(rows.view_rows(5001, N));
  EXPECT_EQ(nearest.rows(), N);
  const auto best = nearest.best();
  for (std::int64_t q = 0; q < Q; ++q) {
    std::vector<std::pair<double, std::int64_t>> all;
    for (std::int64_t i = 0; i < N; ++i) all.emplace_back(-cosine(queries.data() + q * D, rows.data() + i * D, D), i);
    std::ranges::sort(all);
    const auto& found = best[static_cast<std::size_t>(q)];
    ASSERT_EQ(found.size(), 10u);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(found[i].row, all[i].second);
      EXPECT_NEAR(found[i].cosine, -all[i].first, 1e-6);
    }
  }
}

TEST(Nearest, EqualCosinesAreInTheOrderOfTheRows) {
  Nearest nearest(Tensor::from({1, 0}, {1, 2}), 3);
  nearest.add(Tensor::from({0, 0, 2, 0, 1, 0, 5, 0, 1, 1}, {5, 2}));
  std::vector<std::int64_t> rows;
  const std::vector<Nearest::Match> best = nearest.best()[0];
  for (const Nearest::Match& match : best) rows.push_back(match.row);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{1, 2, 3}));
  Nearest few(Tensor::from({1, 0}, {1, 2}), 3);
  few.add(Tensor::from({0, 0}, {1, 2}));
  ASSERT_EQ(few.best()[0].size(), 1u);
  EXPECT_EQ(few.best()[0][0].cosine, 0.f);
  EXPECT_ERROR(few.add(Tensor::zeros({2, 3})), "the vectors have different sizes");
}

}  // namespace
}  // namespace attend
