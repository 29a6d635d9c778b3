#include "attend/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "attend/core/threads.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/tape.h"
#include "attend/train/clip.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

/// New copies of the golden parameters, as leaves of the tape.
std::vector<NamedTensor> start(const SafetensorsFile& file) {
  std::vector<NamedTensor> all;
  for (const char* name : {"weight", "bias"}) {
    Tensor parameter = file.get(std::string("start/") + name).copy();
    require_grad(parameter);
    all.push_back({name, parameter});
  }
  return all;
}

void give_gradients(const SafetensorsFile& file, const std::vector<NamedTensor>& parameters, int step) {
  for (const auto& [name, parameter] : parameters) {
    const Tensor gradient = file.get("gradient/" + std::to_string(step) + "/" + name).copy();
    set_grad(parameter, step == 2 && name == "bias" ? Tensor() : gradient);
  }
}

std::unique_ptr<Optimizer> make(const std::string& kind, std::vector<NamedTensor> parameters) {
  if (kind == "adam")
    return std::make_unique<Adam>(parameters, AdamOptions{.learning_rate = 0.01, .weight_decay = 0.1f});
  return std::make_unique<AdamW>(
      parameters, AdamWOptions{.learning_rate = 0.01, .beta1 = 0.8, .beta2 = 0.99, .eps = 1e-6, .weight_decay = 0.1f});
}
const char* const kKinds[] = {"adam", "adamw"};

TEST(Optimizer, FiveStepsMatchPyTorch) {
  const SafetensorsFile file = test::golden("optimizer");
  for (const std::string kind : kKinds) {
    const std::vector<NamedTensor> parameters = start(file);
    const auto optimizer = make(kind, parameters);
    for (int step = 0; step < 5; ++step) {
      give_gradients(file, parameters, step);
      optimizer->step();
    }
    for (const auto& [name, parameter] : parameters)
      EXPECT_TRUE(test::close(parameter.detach(), file.get(kind + "/" + name), {1e-5f, 1e-6f})) << kind << " " << name;
  }
}

TEST(Optimizer, ARestoredStateGivesBitIdenticalParameters) {
  const SafetensorsFile file = test::golden("optimizer");
  for (const std::string kind : kKinds) {
    const std::vector<NamedTensor> unbroken = start(file);
    const auto optimizer = make(kind, unbroken);
    std::vector<NamedTensor> resumed, saved;
    for (int step = 0; step < 5; ++step) {
      if (step == 3) {
        for (const auto& [name, parameter] : unbroken) {
          resumed.push_back({name, parameter.copy()});
          require_grad(resumed.back().tensor);
        }
        for (const auto& [name, value] : optimizer->state()) saved.push_back({name, value.copy()});
      }
      give_gradients(file, unbroken, step);
      optimizer->step();
    }
    const auto second = make(kind, resumed);
    second->load_state(saved);
    for (int step = 3; step < 5; ++step) {
      give_gradients(file, resumed, step);
      second->step();
    }
    for (std::size_t i = 0; i < resumed.size(); ++i)
      EXPECT_EQ(resumed[i].tensor.to_vector(), unbroken[i].tensor.to_vector()) << kind;
  }
}

TEST(Optimizer, OneAndTwoThreadsGiveTheSameBits) {
  const auto run = [](int count) {
    set_threads(count);
    std::vector<NamedTensor> parameters;
    for (const std::int64_t size : {1, 3, 10007, 0, 50021, 7}) {
      Tensor parameter = test::normal({size}, 5);
      require_grad(parameter);
      set_grad(parameter, test::normal({size}, 6));
      parameters.push_back({std::to_string(size), parameter});
    }
    AdamW optimizer(parameters, {});
    optimizer.step();
    std::vector<float> all;
    for (const auto& [name, parameter] : parameters)
      all.insert(all.end(), parameter.span().begin(), parameter.span().end());
    return all;
  };
  EXPECT_EQ(run(1), run(2));
}

TEST(Optimizer, WeightDecayAppliesToTheSelectedParameters) {
  Tensor matrix = Tensor::full({2, 2}, 1.f), bias = Tensor::full({2}, 1.f);
  for (Tensor* parameter : {&matrix, &bias}) {
    require_grad(*parameter);
    set_grad(*parameter, Tensor::zeros(parameter->shape()));
  }
  AdamW optimizer({{"matrix", matrix}, {"bias", bias}},
                  {.learning_rate = 0.1, .weight_decay = 0.5f, .decays = only_matrices});
  optimizer.step();
  EXPECT_NEAR(matrix.data()[0], 0.95f, 1e-6);
  EXPECT_EQ(bias.data()[0], 1.f);
}

TEST(Optimizer, TiedParametersAreUpdatedOnce) {
  Tensor tied = Tensor::full({3}, 1.f);
  require_grad(tied);
  set_grad(tied, Tensor::full({3}, 1.f));
  Adam optimizer({{"input", tied}, {"output", tied}}, {.learning_rate = 0.25, .eps = 1});
  optimizer.step({.rate_factor = 2, .gradient_scale = 0.5f});
  EXPECT_NEAR(tied.data()[0], 1 - 0.5f * 0.5f / (0.5f + 1), 1e-6f);
  optimizer.zero_grad();
  EXPECT_FALSE(grad(tied).defined());
}

TEST(Optimizer, BorrowedParametersAreAnError) {
  const std::vector<float> file = {1.f, 2.f, 3.f};
  const auto borrow = [&] {
    return Tensor::borrow(reinterpret_cast<const std::byte*>(file.data()), {3}, DType::f32, nullptr);
  };
  Tensor fixed = borrow();
  EXPECT_TRUE(make("adam", {{"fixed", fixed}})->parameters().empty());  // does not require gradients
  Tensor parameter = borrow();
  require_grad(parameter);
  for (const char* kind : kKinds)
    EXPECT_ERROR(make(kind, {{"layer.weight", parameter}}), "[optimizer] parameter \"layer.weight\" is borrowed");
  Tensor own = borrow().copy();
  require_grad(own);
  EXPECT_ERROR(make("adam", {{"own", own}, {"tied", own}, {"layer.weight", parameter}}), "\"layer.weight\"");
  EXPECT_EQ(make("adam", {{"own", own}})->parameters().size(), 1u);
}

TEST(Optimizer, AStateOfAnotherShapeIsAnError) {
  Tensor parameter = Tensor::zeros({3});
  require_grad(parameter);
  Adam optimizer({{"p", parameter}}, {});
  EXPECT_ERROR(optimizer.load_state({}), "[optimizer] the saved state has no \"p.exp_avg\"");
  const std::vector<NamedTensor> wrong = {{"p.exp_avg", Tensor::zeros({4})}};
  EXPECT_ERROR(optimizer.load_state(wrong), "got float32 [4], expected float32 [3]");
}

TEST(Clip, MatchesPyTorch) {
  const SafetensorsFile file = test::golden("optimizer");
  const std::vector<NamedTensor> parameters = start(file);
  give_gradients(file, parameters, 0);
  const std::vector<Tensor> leaves = {parameters[0].tensor, parameters[1].tensor};
  const double norm = grad_norm(leaves);
  EXPECT_NEAR(norm, file.get("clip/norm").item(), 1e-5);
  for (const auto& [name, parameter] : parameters)
    EXPECT_TRUE(test::close(grad(parameter) * clip_scale(norm, 1.5), file.get("clip/" + name)));
  EXPECT_EQ(clip_scale(norm, 100.), 1.f);
  EXPECT_ERROR(clip_scale(norm, 0.), "must be positive: got 0");
}

TEST(Clip, ANormThatIsNotFiniteGivesNaN) {
  Tensor parameter = Tensor::zeros({3}), without = Tensor::zeros({2});
  require_grad(parameter);
  require_grad(without);
  const std::vector<Tensor> leaves = {parameter, without};
  EXPECT_EQ(grad_norm(leaves), 0.);
  set_grad(parameter, Tensor::from({1, std::numeric_limits<float>::infinity(), 2}, {3}));
  EXPECT_FALSE(std::isfinite(grad_norm(leaves)));
  EXPECT_TRUE(std::isnan(clip_scale(NAN, 1.)));
}

TEST(Clip, AParameterThatIsListedTwiceCountsOnce) {
  Tensor weight = Tensor::zeros({1});
  require_grad(weight);
  set_grad(weight, Tensor::full({1}, 4.f));
  EXPECT_EQ(grad_norm(std::vector{weight, weight}), 4.);
}

TEST(Clip, TheNormDoesNotDependOnTheThreads) {
  Tensor parameter = Tensor::zeros({300007});
  require_grad(parameter);
  set_grad(parameter, test::normal({300007}));
  const std::vector<Tensor> leaves = {parameter};
  set_threads(1);
  const double one = grad_norm(leaves);
  set_threads(2);
  EXPECT_EQ(grad_norm(leaves), one);
  EXPECT_NEAR(one, std::sqrt(300007.), 3.);
}

}  // namespace
}  // namespace attend
