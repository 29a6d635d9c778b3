#include "attend/ops/recompute.h"

#include <algorithm>

#include "attend/core/random.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

thread_local bool recompute_enabled = false;

/// Restores the state of the thread's generator of random numbers.
class ScopedStreams {
 public:
  explicit ScopedStreams(const Generator& state) : now_(default_generator()) { default_generator() = state; }
  ~ScopedStreams() { default_generator() = now_; }
  ScopedStreams(const ScopedStreams&) = delete;
  ScopedStreams& operator=(const ScopedStreams&) = delete;

 private:
  Generator now_;
};

}  // namespace

Recompute::Recompute(bool on) : before_(recompute_enabled) { recompute_enabled = on; }
Recompute::~Recompute() { recompute_enabled = before_; }
bool recomputing() { return recompute_enabled && recording(); }

std::vector<Tensor> recompute(std::span<const Tensor> inputs, std::function<std::vector<Tensor>()> f) {
  if (!recording()) return f();
  const Generator state = default_generator();
  std::vector<Tensor> results;
  {
    const NoGrad no_grad;
    results = f();
  }
  // Results may be the same tensor, which then must stay one: its gradients are added up in the order of its readers.
  std::vector<Tensor> distinct;
  std::vector<std::size_t> places;
  for (Tensor& result : results) {
    const auto same = std::ranges::find(distinct, result.raw(), &Tensor::raw);
    places.push_back(static_cast<std::size_t>(same - distinct.begin()));
    if (same == distinct.end()) distinct.push_back(std::move(result));
  }
  record_again(distinct, inputs, [state, places, count = distinct.size(), f = std::move(f), trains = training()] {
    const ScopedStreams same_streams(state);
    const Training same_mode(trains);
    const Recompute once(false);
    std::vector<Tensor> again = f(), first(count);
    for (std::size_t i = 0; i < again.size(); ++i) first[places[i]] = again[i];
    return first;
  });
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = distinct[places[i]];
  return results;
}

}  // namespace attend
