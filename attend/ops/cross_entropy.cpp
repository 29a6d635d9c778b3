#include "attend/ops/cross_entropy.h"

#include <algorithm>
#include <numeric>

#include "attend/kernels/cross_entropy.h"
#include "attend/ops/check.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

void check(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  check_float("cross_entropy", "logits", logits);
  check_dtype("cross_entropy", "targets", targets, DType::i32);
  if (logits.rank() == 0 || targets.shape() != logits.shape().without(-1))
    fail("cross_entropy", "there must be one target for each row: got logits ", logits.shape(), " and targets ",
         targets.shape(), ", expected logits [..., V] and targets [...]");
  if (!(options.label_smoothing >= 0.f && options.label_smoothing <= 1.f))
    fail("cross_entropy", "label_smoothing is out of range: got ", options.label_smoothing, ", expected 0 to 1");
  const std::int64_t classes = logits.dim(-1);
  for (std::int64_t i = 0; i < targets.numel(); ++i)
    if (const std::int32_t id = targets.data<std::int32_t>()[i]; id != options.ignored && (id < 0 || id >= classes))
      fail("cross_entropy", "target ", i, " is out of range: got id ", id, ", expected 0 to ", classes - 1, ", or ",
           options.ignored, " to ignore the row");
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  check(logits, targets, options);
  const std::int64_t rows = logits.rows(), classes = logits.dim(-1);
  const Tensor losses = Tensor::empty(targets.shape());
  const Tensor log_sum = needs_grad({&logits}) ? Tensor::empty(targets.shape()) : Tensor();
  kernels::cross_entropy(rows, classes, logits.data(), targets.data<std::int32_t>(), options.ignored,
                         options.label_smoothing, losses.data(), log_sum ? log_sum.data() : nullptr);

  const auto ids = targets.span<std::int32_t>();
  const auto counted = static_cast<float>(rows - std::count(ids.begin(), ids.end(), options.ignored));
  const float factor = options.reduction == Reduction::mean ? 1.f / std::max(counted, 1.f) : 1.f;
  const bool reduced = options.reduction != Reduction::none;
  Tensor loss = losses;
  if (reduced) {
    const auto values = losses.span();
    loss = Tensor::scalar(static_cast<float>(std::accumulate(values.begin(), values.end(), 0.0) * factor));
  }

  return record("cross_entropy", loss, {logits}, [=, logits = logits.detach()](const Tensor& dy, Grads& grads) {
    kernels::CrossEntropyGradient p{.logits = logits.data(),
                                    .targets = targets.data<std::int32_t>(),
                                    .log_sum = log_sum.data(),
                                    .scales = dy.data(),
                                    .one_scale = reduced,
                                    .factor = factor,
                                    .ignored = options.ignored,
                                    .smoothing = options.label_smoothing};
    if (logits.sole_owner()) {  // the logits are not needed any more: compute the gradient in-place
      p.dlogits = logits.data();
      kernels::cross_entropy_backward(rows, classes, p);
      return grads.add(0, logits);
    }
    const auto [dlogits, accumulate] = grads.target(0);
    p.dlogits = dlogits.data(), p.accumulate = accumulate;
    kernels::cross_entropy_backward(rows, classes, p);
  });
}

}  // namespace attend
