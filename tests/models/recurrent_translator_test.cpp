// The recurrent translator and classifier are compared with PyTorch (tests/golden/recurrent_models.py). Steps and
// teacher forcing must agree, and padding must not change a result.
#include "attend/models/recurrent_translator.h"

#include <gtest/gtest.h>

#include "attend/core/error.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/models/recurrent_common.h"
#include "attend/nn/module.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/source_stepper.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::SourceStepper;

RecurrentTranslatorOptions small(DecoderAttention attention, kernels::Cell cell = kernels::Cell::gru) {
  RecurrentTranslatorOptions o;
  o.source_vocabulary = 11, o.target_vocabulary = 13, o.embedding = 5, o.hidden = 7, o.encoder_layers = 2;
  o.decoder_layers = 2, o.cell = cell, o.attention = attention, o.max_positions = 9;
  o.bidirectional = attention != DecoderAttention::dot;
  return o;
}

const Tensor kSource = Tensor::ids({1, 2, 3, 4, 5, 6, 7, 0, 0, 0}, {2, 5});
const Tensor kLengths = Tensor::ids({5, 2}, {2});
const Tensor kTarget = Tensor::ids({1, 3, 5, 7, 2, 4, 6, 8}, {2, 4});

std::vector<RecurrentTranslatorOptions> variants() {
  std::vector<RecurrentTranslatorOptions> all;
  for (const auto& named : kDecoderAttentionNames)
    for (const kernels::Cell cell : {kernels::Cell::gru, kernels::Cell::lstm}) all.push_back(small(named.second, cell));
  all.push_back(small(DecoderAttention::additive)), all.back().reverse_source = true;
  all.push_back(small(DecoderAttention::additive)), all.back().tied_output = true;
  all.push_back(small(DecoderAttention::additive)), all.back().deep_output = false;
  all.push_back(small(DecoderAttention::additive)), all.back().decoder_layers = 3;
  return all;
}

TEST(RecurrentTranslator, GenerationUsesNoDropoutInsideATrainingScope) {
  for (const RecurrentTranslatorOptions& options : variants()) {
    Generator generator(1);
    const RecurrentTranslator model(options, generator);
    const auto said = [&] {
      SourceStepper stepper(model, {kSource, kLengths});
      std::vector<float> all = stepper.step(Tensor::ids({1, 2}, {2})).to_vector();
      stepper.select(std::vector<std::int64_t>{1, 1, 0});
      Probe probe;
      stepper.record_attention(kTarget, probe);
      for (const Probe::Record& record : probe.records())
        for (const float weight : record.weights.to_vector()) all.push_back(weight);
      return all;
    };
    const std::vector<float> expected = said();
    const Training training(true);
    EXPECT_EQ(said(), expected);
  }
}

TEST(RecurrentTranslator, SizesOutOfRangeAreErrorsThatNameTheKey) {
  for (const char* key :
       {"source_vocab_size", "vocab_size", "embedding", "hidden", "encoder_layers", "decoder_layers", "max_positions"})
    for (const std::int64_t value : {std::int64_t{1'000'000'000'000}, std::int64_t{0}}) {
      Config config;
      small(DecoderAttention::location).write(config);
      config.set(key, value);
      EXPECT_ERROR(RecurrentTranslatorOptions::read(config),
                   "\"" + std::string(key) + "\" is " + std::to_string(value));
    }
}

TEST(RecurrentTranslator, StepsEqualTeacherForcing) {
  for (const RecurrentTranslatorOptions& options : variants()) {
    Generator generator(1);
    const RecurrentTranslator model(options, generator);
    const NoGrad no_grad;
    Probe probe;
    const Tensor whole = model.decode(model.encode(kSource, kLengths), kTarget, &probe);
    SourceStepper stepper(model, {kSource, kLengths});
    for (std::int64_t t = 0; t < 4; ++t) {
      const std::int32_t words[] = {kTarget.data<std::int32_t>()[t], kTarget.data<std::int32_t>()[4 + t]};
      const Tensor logits = stepper.step(Tensor::ids(words, {2}));
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t v = 0; v < 13; ++v)
          EXPECT_NEAR(logits.data()[b * 13 + v], whole.data()[(b * 4 + t) * 13 + v], 1e-5);
      if (options.attention == DecoderAttention::none) continue;
      const Tensor& weights = probe.records().front().weights;  // [2, 1, 4, 5]
      for (std::int64_t s = 2; s < 5; ++s) EXPECT_EQ(weights.data()[(4 + t) * 5 + s], 0.f) << "padding of the source";
    }
  }
}

// ---- comparison with PyTorch ----

const Tensor kGoldenSource = Tensor::ids({1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 8, 9, 10, 0, 0}, {3, 5});
const Tensor kGoldenLengths = Tensor::ids({5, 2, 3}, {3});

/// Copies PyTorch's parameters into the model.
template <typename Model>
void load_golden(Model& model, const SafetensorsFile& file, const std::string& prefix) {
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    const Tensor values = file.get(prefix + name);
    ASSERT_EQ(values.shape(), tensor.shape()) << name;
    tensor = values.copy();
  });
  train_parameters(model);
}

template <typename Model>
void expect_golden_gradients(Model& model, const SafetensorsFile& file, const std::string& prefix) {
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    EXPECT_TRUE(test::close(grad(tensor), file.get(prefix + "d/" + name), {1e-4f, 2e-6f})) << prefix << name;
  });
}

TEST(RecurrentTranslator, MatchesPyTorchWithEveryAttentionAndCell) {
  const SafetensorsFile file = test::golden("recurrent_models");
  const Tensor words = Tensor::ids({1, 3, 5, 7, 2, 4, 6, 8, 9, 10, 11, 12}, {3, 4});
  const Tensor targets = Tensor::ids({3, 5, 7, 2, 4, 6, 8, 2, 10, 11, 12, 2}, {3, 4});
  for (const auto& [attention_name, attention] : kDecoderAttentionNames)
    for (const auto& [cell_name, cell] : kCellNames) {
      RecurrentTranslatorOptions options = small(attention, cell);
      options.embedding = 6, options.hidden = 5, options.dropout = 0.f;
      RecurrentTranslator model(options);
      const std::string prefix = attention_name + "/" + cell_name + "/";
      load_golden(model, file, prefix);
      Probe probe;
      const Tensor logits = model.decode(model.encode(kGoldenSource, kGoldenLengths), words, &probe);
      EXPECT_TRUE(test::close(logits, file.get(prefix + "logits"), {1e-5f, 2e-6f})) << prefix;
      if (attention != DecoderAttention::none) {
        EXPECT_TRUE(test::close(probe.records().front().weights.reshape({3, 4, 5}), file.get(prefix + "weights"),
                                {1e-5f, 2e-6f}))
            << prefix;
      }
      backward(cross_entropy(logits, targets));
      expect_golden_gradients(model, file, prefix);
    }
}

TEST(RecurrentClassifier, MatchesPyTorchWithEveryPooling) {
  const SafetensorsFile file = test::golden("recurrent_models");
  for (const auto& [name, pooling] : kStatePoolingNames) {
    RecurrentClassifierOptions options;
    options.vocabulary = 11, options.labels = {"a", "b", "c"}, options.embedding = 6, options.hidden = 5;
    options.layers = 2, options.pooling = pooling, options.dropout = 0.f;
    RecurrentClassifier model(options);
    const std::string prefix = "classifier/" + name + "/";
    load_golden(model, file, prefix);
    const Tensor logits = model.logits({kGoldenSource, kGoldenLengths});
    EXPECT_TRUE(test::close(logits, file.get(prefix + "logits"), {1e-5f, 2e-6f})) << prefix;
    backward(cross_entropy(logits, Tensor::ids({0, 2, 1}, {3})));
    expect_golden_gradients(model, file, prefix);
  }
}

TEST(RecurrentTranslator, PaddingChangesNothing) {
  for (const RecurrentTranslatorOptions& options : variants()) {
    Generator generator(2);
    const RecurrentTranslator model(options, generator);
    const NoGrad no_grad;
    const Tensor together = model.decode(model.encode(kSource, kLengths), kTarget);
    const Tensor alone = model.decode(model.encode(Tensor::ids({6, 7}, {1, 2}), Tensor::ids({2}, {1})),
                                      Tensor::ids({2, 4, 6, 8}, {1, 4}));
    for (std::int64_t i = 0; i < alone.numel(); ++i) EXPECT_NEAR(alone.data()[i], together.data()[4 * 13 + i], 1e-5);
  }
}

TEST(RecurrentTranslator, SelectedRowsKeepTheirState) {
  Generator generator(3);
  const RecurrentTranslator model(small(DecoderAttention::additive), generator);
  SourceStepper one(model, {kSource, kLengths}), other(model, {kSource, kLengths});
  const NoGrad no_grad;
  one.step(Tensor::ids({1, 2}, {2})), other.step(Tensor::ids({1, 2}, {2}));
  const std::int64_t rows[] = {1, 1, 0};
  other.select(rows);
  const Tensor expected = one.step(Tensor::ids({3, 4}, {2})), got = other.step(Tensor::ids({4, 4, 3}, {3}));
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t v = 0; v < 13; ++v) EXPECT_NEAR(got.data()[i * 13 + v], expected.data()[rows[i] * 13 + v], 1e-6);
}

TEST(RecurrentTranslator, OptionsSurviveWritingAndReadingTheConfig) {
  for (const RecurrentTranslatorOptions& options : variants()) {
    Config config;
    options.write(config);
    Generator generator(4);
    RecurrentTranslator model(options, generator), again(RecurrentTranslatorOptions::read(config), generator);
    const std::vector<NamedTensor> before = parameters(model), after = parameters(again);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].name, after[i].name);
      EXPECT_EQ(before[i].tensor.shape(), after[i].tensor.shape());
    }
  }
}

TEST(RecurrentTranslator, IncompatibleOptionsAreErrors) {
  RecurrentTranslatorOptions options = small(DecoderAttention::dot);
  options.bidirectional = true;
  EXPECT_THROW(RecurrentTranslator{options}, InputError);
  options = small(DecoderAttention::none);
  options.tied_output = true, options.deep_output = false;
  EXPECT_THROW(RecurrentTranslator{options}, InputError);
}

TEST(RecurrentClassifier, PaddingChangesNothingAndWeightsAddUpToOne) {
  for (const StatePooling pooling :
       {StatePooling::last, StatePooling::mean, StatePooling::max, StatePooling::attention}) {
    RecurrentClassifierOptions options;
    options.vocabulary = 11, options.labels = {"a", "b", "c"}, options.embedding = 5, options.hidden = 7;
    options.layers = 2, options.pooling = pooling;
    Generator generator(5);
    const RecurrentClassifier model(options, generator);
    const NoGrad no_grad;
    Probe probe;
    const Tensor together = model.logits({kSource, kLengths}, &probe);
    const Tensor alone = model.logits({Tensor::ids({6, 7}, {1, 2}), Tensor::ids({2}, {1})});
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_NEAR(alone.data()[i], together.data()[3 + i], 1e-5);
    if (pooling != StatePooling::attention) continue;
    const Tensor& weights = probe.records().front().weights;  // [2, 1, 1, 5]
    EXPECT_NEAR(weights.data()[5] + weights.data()[6], 1.f, 1e-6);
    EXPECT_EQ(weights.data()[7], 0.f);
  }
}

}  // namespace
}  // namespace attend
