#include "attend/tasks/embedding/nearest.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/kernels/matmul.h"
#include "attend/kernels/unit_rows.h"

namespace attend {
namespace {

constexpr std::int64_t kRows = 4096;        // rows that are compared at once
constexpr std::int64_t kCosines = 1 << 22;  // the maximum number of cosines in memory; with many queries fewer rows

Tensor unit_rows(const Tensor& x) {
  Tensor y = Tensor::like(x);
  std::vector<float> scales(static_cast<std::size_t>(x.dim(0)));
  kernels::unit_rows(x.dim(0), x.dim(1), x.data(), 1e-12f, y.data(), scales.data());
  return y;
}

bool better(const Nearest::Match& a, const Nearest::Match& b) {
  return a.cosine != b.cosine ? a.cosine > b.cosine : a.row < b.row;
}

}  // namespace

Nearest::Nearest(const Tensor& queries, std::int64_t top) : top_(top) {
  if (queries.rank() != 2 || top < 1)
    fail("nearest", "expected queries [Q, D] and a positive top: got ", queries.shape(), " and ", top);
  queries_ = unit_rows(queries);
  heaps_.resize(static_cast<std::size_t>(queries.dim(0)));
}

void Nearest::add(const Tensor& rows) {
  const std::int64_t Q = queries_.dim(0), D = queries_.dim(1);
  if (rows.rank() != 2 || rows.dim(1) != D)
    fail<InputError>("nearest", "the vectors have different sizes: got rows ", rows.shape(), " and queries ",
                     queries_.shape());
  const std::int64_t most = std::clamp<std::int64_t>(kCosines / std::max<std::int64_t>(Q, 1), 16, kRows);
  for (std::int64_t begin = 0; begin < rows.dim(0); begin += most) {
    const std::int64_t N = std::min(most, rows.dim(0) - begin);
    const Tensor block = unit_rows(rows.view_rows(begin, begin + N));
    const Tensor cosines = Tensor::empty({Q, N});
    kernels::matmul({.m = Q, .n = N, .k = D, .transpose_b = true}, queries_.data(), block.data(), cosines.data());
    parallel_tasks(Q, [&](std::int64_t q) {
      std::vector<Match>& heap = heaps_[static_cast<std::size_t>(q)];
      const float* row = cosines.data() + q * N;
      for (std::int64_t i = 0; i < N; ++i) {
        const Match match{rows_ + i, std::clamp(row[i], -1.f, 1.f)};  // rounding may exceed 1
        if (std::ssize(heap) == top_) {
          if (!better(match, heap.front())) continue;
          std::ranges::pop_heap(heap, better);
          heap.pop_back();
        }
        heap.push_back(match);
        std::ranges::push_heap(heap, better);
      }
    });
    rows_ += N;
  }
}

std::vector<std::vector<Nearest::Match>> Nearest::best() const {
  std::vector<std::vector<Match>> all = heaps_;
  for (std::vector<Match>& matches : all) std::ranges::sort(matches, better);
  return all;
}

}  // namespace attend
