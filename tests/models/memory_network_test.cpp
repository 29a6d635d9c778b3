// The memory network is compared with PyTorch (tests/golden/memory_network.py): logits, the weights of all hops, all
// gradients, and ten steps of the optimiser.
#include "attend/models/memory_network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/attention/pooling.h"
#include "attend/core/error.h"
#include "attend/models/registry.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

MemoryNetworkOptions small(std::int64_t hops) {
  MemoryNetworkOptions o;
  o.vocabulary = 11, o.width = 6, o.hops = hops, o.memory = 7;
  o.answers = {"three", "seven", "s,e", "n,w"}, o.answer_rows = {3, 7, 11, 12};
  return o;
}

/// The stories of tests/golden/memory_network.py. Two of the sentences occur in two places, and are given once.
StoryBatch stories() {
  constexpr std::int32_t x = kNoWord;
  return {
      .sentences = Tensor::ids({1, 2, 3, x, x, 4, 5, x, x, x, 6, 7, 8, 9, x, 10, 1, 2, x, x, 0, 3, 5, 7, 9}, {5, 5}),
      .stories = Tensor::ids({0, 1, 0, 2, 1, 3, 0, 0, 4, 0, 0, 0}, {3, 4}),
      .times = Tensor::ids({5, 2, 1, 0, 1, 0, 0, 0, 3, 0, 0, 0}, {3, 4}),
      .lengths = Tensor::ids({4, 2, 1}, {3}),
      .questions = Tensor::ids({2, 8, x, 10, 4, 1, 6, x, x}, {3, 3})};
}
const Tensor kAnswers = Tensor::ids({2, 0, 3}, {3});

struct Case {
  const char* name;
  MemoryNetworkOptions options;
};
std::vector<Case> cases() {
  std::vector<Case> all{{"adjacent", small(3)},  {"layer-wise", small(3)}, {"bag", small(2)},
                        {"linear", small(2)},    {"nonlinear", small(3)},  {"one hop", small(1)},
                        {"hop matrix", small(3)}};
  all[1].options.tying = MemoryTying::layer_wise;
  all[2].options.encoding = SentenceEncoding::bag, all[2].options.temporal = false;
  all[3].options.linear = true;
  all[4].options.nonlinear = true;
  all[6].options.hop_matrix = true;
  return all;
}

MemoryNetwork with_golden_weights(const Case& one, const SafetensorsFile& golden) {
  MemoryNetwork model(one.options);
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    tensor = golden.get(std::string(one.name) + "/" + name).copy();
  });
  return model;
}

TEST(MemoryNetwork, LogitsHopsAndGradientsEqualPyTorch) {
  const SafetensorsFile golden = test::golden("memory_network");
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const std::string prefix = std::string(one.name) + "/";
    MemoryNetwork model = with_golden_weights(one, golden);
    train_parameters(model);
    Probe probe;
    const Tensor logits = model(stories(), &probe);
    EXPECT_TRUE(test::close(logits, golden.get(prefix + "logits"), {1e-5f, 1e-5f}));
    const Tensor weights = golden.get(prefix + "weights");  // [B, hops, S]
    ASSERT_EQ(std::ssize(probe.records()), one.options.hops);
    for (std::int64_t hop = 0; hop < one.options.hops; ++hop) {
      const Probe::Record& record = probe.records()[static_cast<std::size_t>(hop)];
      EXPECT_EQ(record.layer, "hop." + std::to_string(hop));
      ASSERT_EQ(record.weights.shape(), (Shape{3, 1, 1, 4}));
      for (std::int64_t b = 0; b < 3; ++b)
        for (std::int64_t s = 0; s < 4; ++s)
          EXPECT_NEAR(record.weights.data()[b * 4 + s], weights.data()[(b * one.options.hops + hop) * 4 + s], 1e-5f);
    }
    backward(cross_entropy(logits, kAnswers));
    for (const NamedTensor& parameter : parameters(model))
      EXPECT_TRUE(test::close(grad(parameter.tensor), golden.get(prefix + "d/" + parameter.name), {1e-5f, 1e-5f}))
          << parameter.name;
  }
}

TEST(MemoryNetwork, TenStepsOfTheOptimiserEqualPyTorch) {
  const SafetensorsFile golden = test::golden("memory_network");
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    MemoryNetwork model = with_golden_weights(one, golden);
    train_parameters(model);
    AdamW optimizer(parameters(model), {.learning_rate = 1e-2, .weight_decay = 0.1f});
    const Tensor losses = golden.get(std::string(one.name) + "/losses");
    for (std::int64_t step = 0; step < 10; ++step) {
      const Tensor loss = cross_entropy(model(stories()), kAnswers);
      EXPECT_NEAR(loss.item(), losses.data()[step], 2e-5f * std::max(1.f, losses.data()[step])) << "step " << step;
      backward(loss);
      optimizer.step();
      optimizer.zero_grad();
    }
  }
}

TEST(MemoryNetwork, OneHopWithTiedWeightsIsPlainAttention) {
  // With A = C, u' = u + softmax(u mᵀ) m: the same vectors are query space, keys and values of dot-product attention.
  MemoryNetworkOptions o = small(1);
  o.temporal = false, o.encoding = SentenceEncoding::bag;
  Generator generator(3);
  MemoryNetwork model(o, generator);
  model.embeddings[1].words = model.embeddings[0].words;
  const StoryBatch batch = stories();
  const Tensor table = model.embeddings[0].words;
  const Tensor m = embedding(embedding_bag(table, batch.sentences), batch.stories);
  const Tensor u = embedding_bag(table, batch.questions).reshape({3, 1, 6});
  Probe hop, attention;
  const Tensor o1 = pool(Dot(), u, m, m, {.mask = Mask::keys(batch.lengths), .probe = &attention});
  const Tensor expected =
      linear(u.reshape({3, 6}) + o1.reshape({3, 6}), embedding(table, Tensor::ids({3, 7, 11, 12}, {4})));
  EXPECT_EQ(model(batch, &hop).to_vector(), expected.to_vector());
  EXPECT_EQ(hop.records().front().weights.to_vector(), attention.records().front().weights.to_vector());
}

TEST(MemoryNetwork, AStoryAloneEqualsTheSameStoryInABatch) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    Generator generator(1);
    const MemoryNetwork model(one.options, generator);
    const Tensor together = model(stories());
    const StoryBatch alone{.sentences = Tensor::ids({4, 5, kNoWord, 10, 1, 2}, {2, 3}),
                           .stories = Tensor::ids({0, 1}, {1, 2}),
                           .times = Tensor::ids({1, 0}, {1, 2}),
                           .lengths = Tensor::ids({2}, {1}),
                           .questions = Tensor::ids({10, 4, 1}, {1, 3})};
    const Tensor logits = model(alone);
    for (std::int64_t a = 0; a < 4; ++a) EXPECT_NEAR(logits.data()[a], together.data()[4 + a], 1e-5f);
  }
}

TEST(MemoryNetwork, ASavedModelLoadsWithTheSameOutput) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const test::TempFolder folder;
    MemoryNetwork model(one.options);
    model.options.linear = false;  // it is part of a training run, not of a model
    model.save(folder.path());
    const auto loaded = ModelFolder(folder.path()).model<MemoryNetwork>("test", Ability::stories);
    EXPECT_EQ((*loaded)(stories()).to_vector(), model(stories()).to_vector());
    EXPECT_EQ(loaded->config().dump(), model.config().dump());
  }
}

TEST(MemoryNetwork, AHopMatrixIsAtFirstTheIdentity) {
  for (const MemoryTying tying : {MemoryTying::adjacent, MemoryTying::layer_wise}) {
    MemoryNetworkOptions o = small(3);
    o.tying = tying;
    Generator generator(5), same(5);
    MemoryNetwork without(o, generator);
    o.hop_matrix = true;
    MemoryNetwork with(o, same);
    EXPECT_EQ(parameters(with).size(), parameters(without).size() + (tying == MemoryTying::adjacent ? 1 : 0));
    const std::vector<float> before = with(stories()).to_vector();
    EXPECT_EQ(before, without(stories()).to_vector());
    with.next.weight.data()[1] += 0.5f;
    EXPECT_NE(with(stories()).to_vector(), before);
  }
}

TEST(MemoryNetwork, TheSecondHopOfALargeNewNetworkAttendsToWhatSharesWordsWithTheFirst) {
  // Greg is a swan. Who else is? With large initial embeddings, the second hop finds the other swan untrained.
  MemoryNetworkOptions o = small(2);
  o.width = 64, o.temporal = false;
  const StoryBatch story{// 1 Greg, 2 Lily, 3 Bob; 4 swan, 5 frog; 6 colour
                         .sentences = Tensor::ids({1, 4, 2, 4, 3, 5}, {3, 2}),
                         .stories = Tensor::ids({0, 1, 2}, {1, 3}),
                         .times = Tensor::ids({2, 1, 0}, {1, 3}),
                         .lengths = Tensor::ids({3}, {1}),
                         .questions = Tensor::ids({6, 1}, {1, 2})};
  const auto preference = [&](float deviation) {  // of the second hop for the other swan over the frog, as log odds
    o.deviation = deviation;
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Generator generator(seed);
      Probe probe;
      MemoryNetwork(o, generator)(story, &probe);
      const float* weights = probe.records().back().weights.data();
      sum += std::log(weights[1] / weights[2]);
    }
    return sum / 20;
  };
  EXPECT_LT(preference(0.1f), 0.5);
  EXPECT_GT(preference(0.5f), 3);
}

TEST(MemoryNetwork, BadConfigurationsAreErrorsThatNameTheKey) {
  for (const char* key : {"vocab_size", "width", "hops", "memory"})
    for (const std::int64_t value : {std::int64_t{1'000'000'000'000}, std::int64_t{0}}) {
      Config config;
      small(2).write(config);
      config.set(key, value);
      EXPECT_ERROR(MemoryNetworkOptions::read(config), "\"" + std::string(key) + "\" is " + std::to_string(value));
    }
  Config config;
  small(2).write(config);
  config.set("linear", true);
  EXPECT_ERROR(MemoryNetworkOptions::read(config), "was saved during linear start, so its hops have no softmax");
  config.set("linear", false);
  config.set("answer_rows", std::vector<std::int64_t>{3, 7, 11, 15});
  EXPECT_ERROR(MemoryNetworkOptions::read(config), "\"answer_rows\" has the row 15, expected 0 to 14");
  config.set("answer_rows", std::vector<std::int64_t>{3});
  EXPECT_ERROR(MemoryNetworkOptions::read(config), "\"answer_rows\" has 1 elements");
}

TEST(MemoryNetwork, SizesThatDoNotFitTheWeightsAreRefusedBeforeTheyAreAllocated) {
  const test::TempFolder folder;
  MemoryNetwork model(small(2));
  model.save(folder.path());
  Config config(folder.path() / "config.json");
  config.set("vocab_size", std::int64_t{1} << 26);
  config.set("width", std::int64_t{1} << 16);
  config.save(folder.path() / "config.json");
  EXPECT_THROW(ModelFolder(folder.path()).model(), InputError);
}

}  // namespace
}  // namespace attend
