#include "attend/ops/pointer.h"

#include <algorithm>

#include "attend/core/threads.h"
#include "attend/kernels/pointer.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check_mixture(const Tensor& logits, const Tensor& weights, const Tensor& gate, const PointerSources& sources) {
  constexpr const char* kOp = "pointer_mixture";
  check_float(kOp, "logits", logits), check_float(kOp, "weights", weights), check_float(kOp, "gate", gate);
  if (logits.rank() != 3 || weights.rank() != 3 || logits.dim(0) != weights.dim(0) || logits.dim(1) != weights.dim(1) ||
      gate.shape() != Shape{logits.dim(0), logits.dim(1), 1})
    fail(kOp, "the shapes do not fit: got logits ", logits.shape(), ", weights ", weights.shape(), " and gate ",
         gate.shape(), ", expected [B, T, V], [B, T, S] and [B, T, 1]");
  if (std::ssize(sources) != logits.dim(0))
    fail(kOp, "there must be one source for each sequence: got ", sources.size(), ", expected ", logits.dim(0));
  for (std::size_t b = 0; b < sources.size(); ++b) {
    if (sources[b]->size() > weights.dim(2))
      fail(kOp, "source ", b, " is longer than its weights: got ", sources[b]->size(), " tokens and weights ",
           weights.shape());
    const std::vector<std::int32_t>& ids = sources[b]->distinct();
    if (!ids.empty() && (ids.front() < 0 || ids.back() >= logits.dim(2)))
      fail<InputError>(kOp, "source ", b, " has an id that is out of range: got ",
                       ids.front() < 0 ? ids.front() : ids.back(), ", expected 0 to ", logits.dim(2) - 1, kUnknownId);
  }
}

/// The rows [begin, end) of a batch, which belong to one sequence each.
template <typename Use>
void for_pointer_rows(const Tensor& logits, const Tensor& weights, const Tensor& gate, const PointerSources& sources,
                      const Use& use) {
  const std::int64_t T = logits.dim(1), V = logits.dim(2), S = weights.dim(2);
  parallel_for(logits.dim(0) * T, 1 + 8192 / (V + 1), [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t b = begin / T, count = std::min(end, (b + 1) * T) - begin;
      const PointerSource& source = *sources[static_cast<std::size_t>(b)];
      use(begin, kernels::PointerRows{.rows = count,
                                      .cols = V,
                                      .positions = source.size(),
                                      .weights_stride = S,
                                      .distinct = std::ssize(source.distinct()),
                                      .ids = source.distinct().data(),
                                      .places = source.places().data(),
                                      .logits = logits.data() + begin * V,
                                      .weights = weights.data() + begin * S,
                                      .gate = gate.data() + begin});
      begin += count;
    }
  });
}

}  // namespace

PointerSource::PointerSource(std::span<const std::int32_t> ids) : distinct_(ids.begin(), ids.end()) {
  std::ranges::sort(distinct_);
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
  for (const std::int32_t id : ids)
    places_.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(distinct_, id) - distinct_.begin()));
}

PointerSources pointer_sources(const Tensor& ids, const Tensor& lengths) {
  check_dtype("pointer_mixture", "ids", ids, DType::i32);
  if (ids.rank() != 2) fail("pointer_mixture", "wrong shape: got ids ", ids.shape(), ", expected [B, S]");
  check_lengths("pointer_mixture", lengths, ids.dim(0), ids.dim(1));
  PointerSources sources;
  for (std::int64_t b = 0; b < ids.dim(0); ++b)
    sources.push_back(std::make_shared<const PointerSource>(ids.span<std::int32_t>().subspan(
        static_cast<std::size_t>(b * ids.dim(1)), static_cast<std::size_t>(lengths.data<std::int32_t>()[b]))));
  return sources;
}

Tensor pointer_mixture(const Tensor& logits, const Tensor& weights, const Tensor& gate, const PointerSources& sources) {
  check_mixture(logits, weights, gate, sources);
  Tensor y = Tensor::like(logits);
  const Tensor log_sum = Tensor::empty({logits.dim(0), logits.dim(1)});
  const std::int64_t V = logits.dim(2), S = weights.dim(2);
  for_pointer_rows(logits, weights, gate, sources, [&](std::int64_t first, const kernels::PointerRows& rows) {
    kernels::pointer_mixture(rows, y.data() + first * V, log_sum.data() + first);
  });
  return record("pointer_mixture", y, {logits, weights, gate},
                [=, y = y.detach(), logits = logits.detach(), weights = weights.detach(), gate = gate.detach()](
                    const Tensor& dy, Grads& grads) {
                  Grads::Target targets[3] = {};
                  for (std::size_t i = 0; i < 3; ++i)
                    if (grads.wants(i)) targets[i] = grads.target(i);
                  Grads::Target &dlogits = targets[0], &dweights = targets[1], &dgate = targets[2];
                  if (dweights.tensor.defined() && !dweights.accumulate) dweights.tensor.fill(0.f);
                  const auto at = [](const Grads::Target& target, std::int64_t offset) {
                    return target.tensor.defined() ? target.tensor.data() + offset : nullptr;
                  };
                  for_pointer_rows(logits, weights, gate, sources,
                                   [&](std::int64_t first, const kernels::PointerRows& rows) {
                                     kernels::pointer_mixture_backward(rows, {.y = y.data() + first * V,
                                                                              .dy = dy.data() + first * V,
                                                                              .log_sum = log_sum.data() + first,
                                                                              .dlogits = at(dlogits, first * V),
                                                                              .dweights = at(dweights, first * S),
                                                                              .dgate = at(dgate, first),
                                                                              .add_logits = dlogits.accumulate,
                                                                              .add_weights = true,
                                                                              .add_gate = dgate.accumulate});
                                   });
                });
}

Tensor coverage_loss(const Tensor& weights, const Tensor& lengths) {
  check_float("coverage_loss", "weights", weights);
  if (weights.rank() != 3) fail("coverage_loss", "wrong shape: got weights ", weights.shape(), ", expected [B, T, S]");
  check_lengths("coverage_loss", lengths, weights.dim(0), weights.dim(1));
  const std::int64_t B = weights.dim(0), T = weights.dim(1), S = weights.dim(2);
  const std::int32_t* targets = lengths.data<std::int32_t>();
  std::vector<double> sums(static_cast<std::size_t>(B));
  parallel_tasks(B, [&](std::int64_t b) {
    sums[static_cast<std::size_t>(b)] = kernels::coverage(targets[b], S, weights.data() + b * T * S);
  });
  double sum = 0;
  for (const double of_one : sums) sum += of_one;
  return record("coverage_loss", Tensor::scalar(static_cast<float>(sum)), {weights},
                [=, weights = weights.detach()](const Tensor& dy, Grads& grads) {
                  const Tensor dw = grads.sum(0);
                  parallel_tasks(B, [&](std::int64_t b) {
                    kernels::coverage_backward(lengths.data<std::int32_t>()[b], S, weights.data() + b * T * S,
                                               dy.item(), dw.data() + b * T * S);
                  });
                });
}

}  // namespace attend
