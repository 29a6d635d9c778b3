// Memory-bound ops, an optimiser step for the parameters of GPT-2, and the memory bandwidth.
#include <algorithm>

#include "attend/core/random.h"
#include "attend/core/threads.h"
#include "attend/ops/activation.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/gated.h"
#include "attend/ops/norm.h"
#include "attend/ops/rotary.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"
#include "attend/train/clip.h"
#include "attend/train/optimizer.h"
#include "bench/job.h"

namespace attend::bench {
namespace {

Tensor normal(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x, 0.f, 1.f);
  return x;
}

Tensor leaf(const Shape& shape) {
  Tensor x = normal(shape);
  require_grad(x);
  return x;
}

using Op = std::function<Tensor(const Tensor&)>;

/// Registers two jobs: name.forward without gradients, and name.both with the gradient of x.
void op_jobs(const std::string& name, double bar, const Shape& shape, const std::function<Op()>& make) {
  job(name + ".forward", bar, [=] {
    return [x = normal(shape), op = make()] {
      const NoGrad no_grad;
      const Training training;
      op(x);
    };
  });
  job(name + ".both", bar, [=] {
    return [x = leaf(shape), op = make(), dy = Tensor()]() mutable {
      const Training training;
      const Tensor y = op(x);
      if (!dy) dy = normal(y.shape());
      backward(y, dy);
      zero_grad(x);
    };
  });
}

std::vector<NamedTensor> gpt2() {
  std::vector<NamedTensor> all;
  const auto add = [&](const Shape& shape) {
    Tensor parameter = Tensor::full(shape, 0.1f);
    require_grad(parameter);
    set_grad(parameter, Tensor::full(shape, 0.01f));
    all.push_back({std::to_string(all.size()), parameter});
  };
  add({50257, 768}), add({1024, 768});
  for (int layer = 0; layer < 12; ++layer) {
    add({768}), add({768}), add({768, 2304}), add({2304}), add({768, 768}), add({768});
    add({768}), add({768}), add({768, 3072}), add({3072}), add({3072, 768}), add({768});
  }
  add({768}), add({768});
  return all;
}

/// The time of the memory traffic of an optimiser in seconds, without its arithmetic: reads four arrays and writes
/// three.
double seconds_of_traffic(std::int64_t size) {
  static std::vector<Tensor> arrays;
  if (arrays.empty() || arrays[0].numel() != size)
    arrays = {Tensor::full({size}, 1.f), Tensor::full({size}, 1.f), Tensor::full({size}, 1.f),
              Tensor::full({size}, 1.f)};
  return best_seconds([&] {
    parallel_for(size, 4096, [&](std::int64_t begin, std::int64_t end) {
      float* __restrict a = arrays[0].data(), * __restrict b = arrays[1].data(), * __restrict c = arrays[2].data();
      const float* __restrict d = arrays[3].data();
      for (std::int64_t i = begin; i < end; ++i) a[i] += d[i], b[i] += d[i], c[i] += d[i];
    });
  });
}

void register_jobs() {
  op_jobs("layer_norm.4096x768", 1.3, {4096, 768}, [] {
    return [gain = leaf({768}), bias = leaf({768})](const Tensor& x) { return layer_norm(x, gain, bias); };
  });
  op_jobs("rms_norm.4096x768", 1.3, {4096, 768},
          [] { return [gain = leaf({768})](const Tensor& x) { return rms_norm(x, gain); }; });
  op_jobs("softmax.4096x1024", 1.3, {4096, 1024}, [] { return [](const Tensor& x) { return softmax(x); }; });
  op_jobs("gelu.4096x768", 1.3, {4096, 768}, [] { return [](const Tensor& x) { return gelu(x); }; });
  op_jobs("gelu_tanh.4096x768", 1.3, {4096, 768}, [] { return [](const Tensor& x) { return gelu_tanh(x); }; });
  op_jobs("gated_silu.4096x2048", 1.3, {4096, 4096},
          [] { return [](const Tensor& x) { return gated(x, Activation::silu); }; });
  op_jobs("gated_gelu_tanh.4096x2048", 1.3, {4096, 4096},
          [] { return [](const Tensor& x) { return gated(x, Activation::gelu_tanh); }; });
  // Queries and keys of 12 heads of size 64, in the rows of a fused projection. The values are not rotated.
  op_jobs("rotate.4096x2304", 1.3, {4096, 2304}, [] {
    const Tensor positions = Tensor::empty({4096}, DType::i32);
    for (int i = 0; i < 4096; ++i) positions.data<std::int32_t>()[i] = i % 1024;
    return [positions, table = RotaryTable(1024, rotary_frequencies(64))](const Tensor& x) {
      return rotate_heads(x, 24, 64, positions, table);
    };
  });
  op_jobs("dropout.4096x768", 1.3, {4096, 768}, [] { return [](const Tensor& x) { return dropout(x, 0.1f); }; });
  op_jobs("cross_entropy.1024x50257", 1.3, {1024, 50257}, [] {
    const Tensor targets = Tensor::empty({1024}, DType::i32);
    for (int i = 0; i < 1024; ++i) targets.data<std::int32_t>()[i] = i * 49 % 50257;
    return [targets](const Tensor& x) { return cross_entropy(x, targets); };
  });
  job("adamw.124M", 0,
      [] { return [optimizer = std::make_shared<AdamW>(gpt2(), AdamWOptions{})] { optimizer->step(); }; });
  job("gradient_norm.124M", 1.3, [] {
    std::vector<Tensor> parameters;
    for (const NamedTensor& named : gpt2()) parameters.push_back(named.tensor);
    return [parameters] { grad_norm(parameters); };
  });
  constexpr std::int64_t kGpt2 = 124439808;
  figure("memory.124M.speed", "GB/s", 0, [] { return 7 * sizeof(float) * kGpt2 / seconds_of_traffic(kGpt2) / 1e9; });
  figure("adamw.124M.share_of_memory_speed", "", -0.9, [] {
    AdamW optimizer(gpt2(), {});
    double traffic = 1e30, step = 1e30;
    for (int round = 0; round < 10; ++round) {  // alternately, because the speed of the machine may change
      traffic = std::min(traffic, seconds_of_traffic(kGpt2));
      step = std::min(step, best_seconds([&] { optimizer.step(); }));
    }
    return traffic / step;
  });
}

}  // namespace
}  // namespace attend::bench

int main(int argc, char** argv) {
  attend::bench::register_jobs();
  return attend::bench::serve(argc, argv);
}
