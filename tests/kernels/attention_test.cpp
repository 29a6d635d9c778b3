// Compares the fused kernels with a simple implementation in double precision that stores the whole matrix.
#include "attend/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attend/core/memory.h"
#include "attend/core/threads.h"

namespace attend::kernels {
namespace {

using Floats = std::vector<float>;
constexpr double kMasked = -std::numeric_limits<double>::infinity();

Floats numbers(std::int64_t n, std::uint64_t stream) {
  Floats values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = uniform_from(philox({11, stream}, i)[0]) * 4.f - 2.f;
  return values;
}

/// A problem with its memory. `gap` floats are left between the rows of q, k, v and out.
struct Case {
  AttentionProblem problem;
  std::vector<AttentionSegment> segments;
  Floats q, k, v, dout;
  std::int64_t q_rows = 0, k_rows = 0, out_stride = 0;
  std::vector<std::int8_t> allowed;
  Floats bias;

  Case(std::vector<AttentionSegment> list, std::int64_t heads, std::int64_t head_dim, std::int64_t value_dim,
       bool causal = false, std::int64_t gap = 0, std::int64_t kv_heads = 0)
      : segments(std::move(list)) {
    for (const AttentionSegment& s : segments) {
      q_rows = std::max(q_rows, s.q_begin + s.q_rows);
      k_rows = std::max(k_rows, s.k_begin + s.k_rows);
    }
    const std::int64_t shared = kv_heads > 0 ? kv_heads : heads;
    problem.q_stride = heads * head_dim + gap;
    problem.k_stride = shared * head_dim + 2 * gap;
    problem.v_stride = shared * value_dim + gap;
    out_stride = heads * value_dim + gap;
    problem.heads = heads, problem.kv_heads = kv_heads, problem.head_dim = head_dim, problem.value_dim = value_dim;
    problem.scale = 1.f / std::sqrt(static_cast<float>(head_dim));
    problem.causal = causal;
    q = numbers(q_rows * problem.q_stride, 1), k = numbers(k_rows * problem.k_stride, 2);
    v = numbers(k_rows * problem.v_stride, 3), dout = numbers(q_rows * out_stride, 4);
  }

  const AttentionProblem& get() {
    problem.q = q.data(), problem.k = k.data(), problem.v = v.data();
    problem.segments = segments;
    problem.allowed.data = allowed.empty() ? nullptr : allowed.data();
    problem.bias.data = bias.empty() ? nullptr : bias.data();
    return problem;
  }
};

/// Sets the strides of matrices [T, S], for each segment and head or shared by all. Returns their total size in
/// elements.
template <typename T>
std::int64_t lay_out(AttentionMatrix<T>& matrix, const Case& c, bool by_segment, bool by_head, std::int64_t rows,
                     std::int64_t columns) {
  matrix.row_stride = columns;
  matrix.head_stride = by_head ? rows * columns : 0;
  matrix.segment_stride = by_segment ? (by_head ? c.problem.heads : 1) * rows * columns : 0;
  return (by_segment ? std::ssize(c.segments) : 1) * (by_head ? c.problem.heads : 1) * rows * columns;
}

struct Result {
  std::vector<double> out, dq, dk, dv, dbias;
};

/// The simple implementation. multiplier(row, head, key) is that of dropout.
template <typename Multiplier>
Result reference(Case& c, const Multiplier& multiplier) {
  const AttentionProblem& p = c.get();
  Result r;
  r.out.resize(c.dout.size()), r.dq.resize(c.q.size()), r.dk.resize(c.k.size()), r.dv.resize(c.v.size());
  r.dbias.resize(c.bias.size());
  const std::int64_t group = p.group();
  for (std::size_t si = 0; si < c.segments.size(); ++si) {
    const AttentionSegment& s = c.segments[si];
    for (std::int64_t h = 0; h < p.heads; ++h) {
      for (std::int64_t i = 0; i < s.q_rows; ++i) {
        const auto keys = static_cast<std::size_t>(s.k_rows);
        std::vector<double> w(keys, kMasked), dw(keys), keep(keys);
        const std::int64_t q_at = (s.q_begin + i) * p.q_stride + h * p.head_dim;
        const std::int64_t o_at = (s.q_begin + i) * c.out_stride + h * p.value_dim;
        double largest = kMasked, sum = 0;
        for (std::int64_t j = 0; j < s.k_rows; ++j) {
          if (p.causal && j > i) continue;
          if (p.window >= 0 && std::abs(i - j) > p.window) continue;
          const auto at = [&](const auto& matrix) { return matrix.offset(static_cast<std::int64_t>(si), h, i) + j; };
          if (p.allowed.data && !p.allowed.data[at(p.allowed)]) continue;
          double dot = 0;
          for (std::int64_t d = 0; d < p.head_dim; ++d)
            dot += static_cast<double>(p.q[q_at + d]) * p.k[(s.k_begin + j) * p.k_stride + h / group * p.head_dim + d];
          w[static_cast<std::size_t>(j)] = dot * p.scale + (p.bias.data ? p.bias.data[at(p.bias)] : 0.f);
          largest = std::max(largest, w[static_cast<std::size_t>(j)]);
        }
        if (largest == kMasked) continue;
        for (double& x : w) sum += x = std::exp(x - largest);
        double delta = 0;
        for (std::int64_t j = 0; j < s.k_rows; ++j) {
          const auto J = static_cast<std::size_t>(j);
          w[J] /= sum;
          keep[J] = multiplier(s.q_begin + i, h, j);
          for (std::int64_t d = 0; d < p.value_dim; ++d) {
            const std::int64_t v_at = (s.k_begin + j) * p.v_stride + h / group * p.value_dim + d;
            const double g = c.dout[static_cast<std::size_t>(o_at + d)];
            r.out[static_cast<std::size_t>(o_at + d)] += w[J] * keep[J] * p.v[v_at];
            r.dv[static_cast<std::size_t>(v_at)] += w[J] * keep[J] * g;
            dw[J] += g * p.v[v_at] * keep[J];
          }
          delta += dw[J] * w[J];
        }
        for (std::int64_t j = 0; j < s.k_rows; ++j) {
          const double dscore = w[static_cast<std::size_t>(j)] * (dw[static_cast<std::size_t>(j)] - delta);
          const double ds = dscore * p.scale;
          if (p.bias.data)
            r.dbias[static_cast<std::size_t>(p.bias.offset(static_cast<std::int64_t>(si), h, i) + j)] += dscore;
          for (std::int64_t d = 0; d < p.head_dim; ++d) {
            const std::int64_t k_at = (s.k_begin + j) * p.k_stride + h / group * p.head_dim + d;
            r.dq[static_cast<std::size_t>(q_at + d)] += ds * p.k[k_at];
            r.dk[static_cast<std::size_t>(k_at)] += ds * p.q[q_at + d];
          }
        }
      }
    }
  }
  return r;
}

struct Fused {
  Floats out, lse, dq, dk, dv, dbias;
};
Fused fused(Case& c, float before = 0.f, bool add = false) {
  const AttentionProblem& p = c.get();
  Fused f{Floats(c.dout.size(), 0.f), Floats(static_cast<std::size_t>(c.q_rows * p.heads), 0.f),
          Floats(c.q.size(), before), Floats(c.k.size(), before),
          Floats(c.v.size(), before), Floats(c.bias.size(), before)};
  attention_forward(p, f.out.data(), c.out_stride, f.lse.data());
  attention_backward(p, f.out.data(), c.dout.data(), c.out_stride, f.lse.data(),
                     {f.dq.data(), f.dk.data(), f.dv.data(), p.q_stride, p.k_stride, p.v_stride, add, add, add,
                      c.bias.empty() ? nullptr : f.dbias.data()});
  return f;
}

void expect_near(const Floats& got, const std::vector<double>& want, double tolerance, const char* what,
                 double before = 0) {
  ASSERT_EQ(got.size(), want.size());
  double largest = 1;
  for (const double x : want) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i] + before, tolerance * largest) << what << " at " << i;
}

void expect_equal(Case& c) {
  const Result want = reference(c, [](auto...) { return 1.; });
  const Fused got = fused(c);
  ASSERT_NO_FATAL_FAILURE(expect_near(got.out, want.out, 2e-6, "out"));
  ASSERT_NO_FATAL_FAILURE(expect_near(got.dq, want.dq, 5e-6, "dq"));
  ASSERT_NO_FATAL_FAILURE(expect_near(got.dk, want.dk, 5e-6, "dk"));
  ASSERT_NO_FATAL_FAILURE(expect_near(got.dv, want.dv, 5e-6, "dv"));
  ASSERT_NO_FATAL_FAILURE(expect_near(got.dbias, want.dbias, 5e-6, "dbias"));
}

TEST(AttentionKernel, FusedEqualsTheSimpleImplementationForEveryShape) {
  struct Sizes {
    std::int64_t T, S, heads, head_dim, value_dim;
  };
  for (const Sizes z : {Sizes{1, 1, 1, 1, 1},
                        {1, 300, 2, 64, 64},
                        {3, 1500, 1, 16, 16},
                        {4, 5, 3, 7, 9},
                        {5, 129, 2, 7, 3},
                        {10, 10, 4, 64, 64},
                        {25, 128, 1, 80, 80},
                        {61, 67, 2, 17, 31},
                        {150, 131, 2, 64, 64},
                        {97, 257, 1, 128, 100},
                        {50, 300, 1, 256, 256},
                        {401, 40, 1, 8, 8}}) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(testing::Message() << "T " << z.T << ", S " << z.S << ", head " << z.head_dim << ", causal "
                                      << causal);
      Case c({{0, z.T, 0, z.S}}, z.heads, z.head_dim, z.value_dim, causal, 3);
      ASSERT_NO_FATAL_FAILURE(expect_equal(c));
    }
  }
}

TEST(AttentionKernel, SegmentsOfAllLengthsAreIndependent) {
  for (const bool causal : {false, true}) {
    Case c({{0, 7, 0, 7}, {7, 1, 7, 260}, {8, 150, 267, 150}, {158, 3, 417, 0}, {161, 0, 417, 5}, {161, 2, 430, 9}}, 3,
           16, 24, causal);
    ASSERT_NO_FATAL_FAILURE(expect_equal(c));
  }
}

TEST(AttentionKernel, AWindowHidesDistantKeys) {
  for (const bool causal : {false, true})
    for (const std::int64_t window : {0, 5, 64, 200}) {
      SCOPED_TRACE(testing::Message() << "window " << window << ", causal " << causal);
      for (const auto& [T, S] : {std::pair<std::int64_t, std::int64_t>{3, 3}, {17, 17}, {300, 300}, {100, 40}}) {
        Case c({{0, T, 0, S}, {T, 20, S, 20}}, 1, 16, 8, causal);
        c.problem.window = window;
        ASSERT_NO_FATAL_FAILURE(expect_equal(c));
      }
    }
}

TEST(AttentionKernel, MaskAndBiasMatricesAreApplied) {
  const std::int64_t T = 53, S = 141, heads = 2;
  for (const bool causal : {false, true}) {
    for (const bool by_head : {false, true}) {
      Case c({{0, T, 0, S}, {T, T, S, S}}, heads, 24, 24, causal);
      const Floats random = numbers(lay_out(c.problem.allowed, c, true, by_head, T, S), 9);
      for (const float x : random) c.allowed.push_back(x > 0.5f);
      for (std::int64_t j = 0; j < S; ++j)
        c.allowed[static_cast<std::size_t>(5 * S + j)] = 0;  // query 5 is fully masked
      ASSERT_NO_FATAL_FAILURE(expect_equal(c));
      const Floats out = fused(c).out;
      for (std::int64_t d = 0; d < (by_head ? 24 : heads * 24); ++d)
        EXPECT_EQ(out[static_cast<std::size_t>(5 * heads * 24 + d)], 0.f);

      lay_out(c.problem.bias, c, true, by_head, T, S);
      c.bias = random;
      for (float& x : c.bias)
        if (x < -1.8f) x = -std::numeric_limits<float>::infinity();
      ASSERT_NO_FATAL_FAILURE(expect_equal(c)) << "both";
      c.allowed.clear();
      ASSERT_NO_FATAL_FAILURE(expect_equal(c));
    }
  }
}

TEST(AttentionKernel, ASharedBiasGetsTheSumOfItsGradients) {
  for (const std::int64_t kv_heads : {6, 3, 2, 1})
    for (const bool causal : {false, true})
      for (const bool by_segment : {false, true})
        for (const bool by_head : {false, true}) {
          SCOPED_TRACE(testing::Message() << kv_heads << " kv heads, causal " << causal << ", by segment " << by_segment
                                          << ", by head " << by_head);
          Case c({{0, 7, 0, 9}, {7, 2, 9, 11}, {9, 0, 20, 4}, {9, 13, 24, 13}, {22, 5, 37, 1}, {27, 9, 38, 0}}, 6, 8, 5,
                 causal, 2, kv_heads);
          c.bias = numbers(lay_out(c.problem.bias, c, by_segment, by_head, 14, 15), 9);
          ASSERT_NO_FATAL_FAILURE(expect_equal(c));
          c.problem.dropout = DropoutRate(0.2f);
          const Floats first = fused(c).dbias, more = fused(c, 3.f, true).dbias;
          for (std::size_t i = 0; i < first.size(); ++i) ASSERT_NEAR(more[i], first[i] + 3.f, 1e-5);
        }
}

TEST(AttentionKernel, GroupedHeadsShareKeysAndValues) {
  for (const std::int64_t kv_heads : {1, 2, 4})
    for (const std::int64_t T : {1, 3, 30, 200})
      for (const bool causal : {false, true}) {
        Case c({{0, T, 0, 700}, {T, T, 700, T}}, 4, 16, 12, causal, 1, kv_heads);
        ASSERT_NO_FATAL_FAILURE(expect_equal(c)) << kv_heads << ' ' << T << ' ' << causal;
      }
}

TEST(AttentionKernel, EveryScaleWorks) {
  for (const float scale : {0.f, -0.3f, 5.f}) {
    Case c({{0, 30, 0, 40}}, 1, 8, 8);
    c.problem.scale = scale;
    ASSERT_NO_FATAL_FAILURE(expect_equal(c));
  }
}

TEST(AttentionKernel, LargeScoresDoNotOverflow) {
  for (const std::int64_t T : {2, 40}) {
    Case c({{0, T, 0, 200}}, 1, 8, 8);
    c.problem.scale = 100.f;
    const Result want = reference(c, [](auto...) { return 1.; });
    ASSERT_NO_FATAL_FAILURE(expect_near(fused(c).out, want.out, 1e-3, "out"));
  }
}

TEST(AttentionKernel, SmallAndLargeScoresCanBeMixed) {
  for (const bool causal : {false, true}) {
    const std::int64_t S = 800, T = causal ? S : 70;
    for (const std::int64_t large : {0, 300, 600}) {
      Case c({{0, T, 0, S}}, 2, 16, 16, causal);
      for (std::int64_t j = large; j < large + 100; ++j)
        for (std::int64_t d = 0; d < c.problem.k_stride; ++d)
          c.k[static_cast<std::size_t>(j * c.problem.k_stride + d)] *= 40.f;
      const Result want = reference(c, [](auto...) { return 1.; });
      ASSERT_NO_FATAL_FAILURE(expect_near(fused(c).out, want.out, 1e-4, "out")) << causal << ' ' << large;
    }
  }
}

TEST(AttentionKernel, NaNReachesTheQueriesThatAttendToIt) {
  for (const std::int64_t T : {3, 40}) {
    Case c({{0, T, 0, T}}, 1, 16, 16, true);
    c.k[static_cast<std::size_t>(2 * c.problem.k_stride)] = std::numeric_limits<float>::quiet_NaN();
    const Floats out = fused(c).out;
    for (std::int64_t i = 0; i < T; ++i)
      EXPECT_EQ(std::isnan(out[static_cast<std::size_t>(i * c.out_stride)]), i >= 2) << i;
  }
}

TEST(AttentionKernel, AFullyMaskedQueryGivesZerosAndZeroGradients) {
  for (const std::int64_t T : {3, 30}) {
    Case c({{0, T, 0, 20}}, 2, 8, 8);
    c.allowed.assign(static_cast<std::size_t>(lay_out(c.problem.allowed, c, false, false, T, 20)), 1);
    std::fill_n(c.allowed.begin(), 2 * 20, std::int8_t{0});  // masks all keys of the first two queries
    const Fused f = fused(c, 9.f);
    for (std::size_t i = 0; i < 2 * 16; ++i) {
      EXPECT_EQ(f.out[i], 0.f);
      EXPECT_EQ(f.dq[i], 0.f);
    }
    EXPECT_EQ(f.lse[0], -std::numeric_limits<float>::infinity());
    ASSERT_NO_FATAL_FAILURE(expect_equal(c));
  }
}

TEST(AttentionKernel, GradientsCanBeAccumulated) {
  Case c({{0, 300, 0, 300}}, 2, 16, 16, true);
  const Result want = reference(c, [](auto...) { return 1.; });
  const Fused got = fused(c, 3.f, true);
  expect_near(got.dq, want.dq, 1e-5, "dq", 3);
  expect_near(got.dk, want.dk, 1e-5, "dk", 3);
  expect_near(got.dv, want.dv, 1e-5, "dv", 3);
}

TEST(AttentionKernel, LogSumExpIsCorrect) {
  Case c({{0, 2, 0, 3}}, 1, 4, 4);
  const Fused f = fused(c);
  double sum = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    double dot = 0;
    for (std::size_t d = 0; d < 4; ++d) dot += static_cast<double>(c.q[4 + d]) * c.k[4 * j + d];
    sum += std::exp(dot * c.problem.scale);
  }
  EXPECT_NEAR(f.lse[1], std::log(sum), 1e-6);
}

TEST(AttentionKernel, WeightsAreTheSoftmax) {
  for (const bool causal : {false, true}) {
    Case c({{0, 13, 0, 37}, {13, 9, 37, 30}}, 2, 12, 37, causal, 1);
    // With the unit matrix as values, the output of attention is its weights.
    for (std::int64_t s = 0; s < 2; ++s)
      for (std::int64_t j = 0; j < c.segments[static_cast<std::size_t>(s)].k_rows; ++j)
        for (std::int64_t h = 0; h < 2; ++h)
          for (std::int64_t d = 0; d < 37; ++d)
            c.v[static_cast<std::size_t>((s * 37 + j) * c.problem.v_stride + h * 37 + d)] = j == d ? 1.f : 0.f;
    const Fused f = fused(c);
    const std::int64_t T = 13, S = 37;
    Floats weights(static_cast<std::size_t>(2 * 2 * T * S), 7.f);
    attention_weights(c.get(), T, S, weights.data());
    for (std::int64_t s = 0; s < 2; ++s)
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t i = 0; i < T; ++i)
          for (std::int64_t j = 0; j < S; ++j) {
            const bool exists = i < c.segments[static_cast<std::size_t>(s)].q_rows;
            const float want = exists ? f.out[static_cast<std::size_t>((s * 13 + i) * c.out_stride + h * 37 + j)] : 0.f;
            ASSERT_NEAR(weights[static_cast<std::size_t>(((s * 2 + h) * T + i) * S + j)], want, 1e-6);
          }
  }
}

TEST(AttentionKernel, DropoutIsTheSameForwardAndBackwardAndKeepsTheExpectation) {
  for (const std::int64_t T : {3, 40}) {
    const std::int64_t S = 197, heads = 2;
    Case c({{0, T, 0, S}}, heads, 8, S);
    c.problem.dropout = DropoutRate(0.3f);
    c.problem.key = {5, 6};
    // With the unit matrix as values, the output shows which weights were dropped.
    std::fill(c.v.begin(), c.v.end(), 0.f);
    for (std::int64_t j = 0; j < S; ++j)
      for (std::int64_t h = 0; h < heads; ++h) c.v[static_cast<std::size_t>(j * c.problem.v_stride + h * S + j)] = 1.f;
    const Floats dropped = fused(c).out;
    std::int64_t kept = 0;
    for (const float x : dropped) kept += x != 0.f;
    const double share = static_cast<double>(kept) / static_cast<double>(dropped.size());
    EXPECT_NEAR(share, 0.7, 4 * std::sqrt(0.21 / static_cast<double>(dropped.size())));

    c.v = numbers(static_cast<std::int64_t>(c.v.size()), 3);
    const Result want = reference(c, [&](std::int64_t row, std::int64_t h, std::int64_t j) {
      const bool keep = dropped[static_cast<std::size_t>(row * c.out_stride + h * S + j)] != 0.f;
      return keep ? static_cast<double>(c.problem.dropout.scale) : 0.;
    });
    const Fused got = fused(c);
    expect_near(got.out, want.out, 3e-6, "out");
    expect_near(got.dq, want.dq, 1e-5, "dq");
    expect_near(got.dk, want.dk, 1e-5, "dk");
    expect_near(got.dv, want.dv, 1e-5, "dv");
  }
}

TEST(AttentionKernel, OneAndTwoThreadsGiveTheSameBits) {
  const int before = threads();
  for (const std::int64_t T : {1, 3, 100, 700}) {
    Case c({{0, T, 0, 2300}, {T, 20, 2300, 20}, {T + 20, 20, 2320, 10}}, 4, 16, 16, true, 0, 2);
    c.bias = numbers(lay_out(c.problem.bias, c, false, T % 2 == 0, std::max<std::int64_t>(T, 20), 2300), 9);
    c.problem.dropout = DropoutRate(0.1f);
    set_threads(1);
    const Fused one = fused(c);
    set_threads(2);
    const Fused two = fused(c);
    EXPECT_EQ(one.out, two.out);
    EXPECT_EQ(one.dq, two.dq);
    EXPECT_EQ(one.dk, two.dk);
    EXPECT_EQ(one.dv, two.dv);
    EXPECT_EQ(one.dbias, two.dbias);
  }
  set_threads(before);
}

TEST(AttentionKernel, ASequenceHasTheSameBitsAloneAndInABatch) {
  Case many({{0, 100, 0, 90}, {100, 140, 90, 150}}, 2, 16, 16);
  Case alone = many;
  alone.segments.erase(alone.segments.begin());
  const Floats a = fused(many).out, b = fused(alone).out;
  EXPECT_TRUE(std::equal(a.begin() + 100 * 32, a.end(), b.begin() + 100 * 32));
}

TEST(AttentionKernel, ScratchMemoryDoesNotGrowWithTheLength) {
  const auto scratch = [](std::int64_t T) {
    Case c({{0, T, 0, T}}, 8, 4, 4, true);
    Floats out(c.dout.size()), lse(static_cast<std::size_t>(T * 8)), dq(c.q.size()), dk(c.k.size()), dv(c.v.size());
    const AttentionProblem& p = c.get();
    reset_peak_memory();
    const std::size_t before = memory_use().current;
    attention_forward(p, out.data(), c.out_stride, lse.data());
    attention_backward(p, out.data(), c.dout.data(), c.out_stride, lse.data(),
                       {dq.data(), dk.data(), dv.data(), p.q_stride, p.k_stride, p.v_stride});
    return memory_use().peak - before;
  };
  EXPECT_LE(scratch(3072), scratch(1024) + (1 << 20));
}

}  // namespace
}  // namespace attend::kernels
