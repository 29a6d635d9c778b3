// A Transformer with a pointer is compared with the same network in PyTorch (tests/golden/pointer.py); its steps are
// compared with teacher forcing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "attend/decode/engine.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

constexpr test::Tolerance kClosePointer{.relative = 1e-5f, .absolute = 3e-5f};

TransformerOptions golden_options() {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = 19, o.width = 9, o.encoder_layers = 1, o.decoder_layers = 2;
  o.encoder_heads = o.decoder_heads = 3, o.encoder_inner = o.decoder_inner = 13, o.max_positions = 8;
  o.scale_embedding = false, o.learned_positions = true, o.activation = Activation::relu, o.pointer = true;
  return o;
}

Transformer golden_model(const SafetensorsFile& file) {
  Transformer model(golden_options());
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    const Tensor values = file.get(name);
    ASSERT_EQ(values.shape(), tensor.shape()) << name;
    std::ranges::copy(values.span(), tensor.data());
  });
  return model;
}

Predictions predict_golden(const Transformer& model, const SafetensorsFile& file) {
  return model.predict(file.get("ids"), file.get("lengths"), file.get("words"));
}

/// The loss of tests/golden/pointer.py, per target.
Tensor golden_loss(const Transformer& model, const SafetensorsFile& file) {
  const Predictions predicted = predict_golden(model, file);
  const Tensor nll =
      cross_entropy(predicted.logits, file.get("targets"), {.label_smoothing = 0.1f, .reduction = Reduction::sum});
  return (nll + coverage_loss(predicted.copying, file.get("target_lengths")) * 0.7f) * (1.f / 10.f);
}

TEST(PointerGenerator, GivesPyTorchsLogProbabilitiesAndPointer) {
  const SafetensorsFile file = test::golden("pointer");
  const Transformer model = golden_model(file);
  const NoGrad no_grad;
  EXPECT_TRUE(test::close(model.encode(file.get("ids"), file.get("lengths")), file.get("states"), kClosePointer));
  const Predictions predicted = predict_golden(model, file);
  EXPECT_TRUE(test::close(predicted.logits, file.get("logits"), kClosePointer));
  EXPECT_TRUE(test::close(predicted.copying, file.get("copying"), kClosePointer));
  EXPECT_NEAR(coverage_loss(predicted.copying, file.get("target_lengths")).item(), file.get("coverage").item(), 1e-4);
}

TEST(PointerGenerator, AllGradientsMatchPyTorch) {
  const SafetensorsFile file = test::golden("pointer");
  Transformer model = golden_model(file);
  train_parameters(model);
  backward(golden_loss(model, file));
  for (const NamedTensor& named : parameters(model))
    EXPECT_TRUE(test::close(grad(named.tensor), file.get("gradient/" + named.name), {1e-4f, 2e-5f})) << named.name;
}

TEST(PointerGenerator, TenTrainingStepsMatchPyTorch) {
  const SafetensorsFile file = test::golden("pointer");
  Transformer model = golden_model(file);
  train_parameters(model);
  AdamW optimizer(parameters(model), {.learning_rate = 3e-3, .weight_decay = 0.01f});
  const Tensor losses = file.get("losses");
  for (std::int64_t step = 0; step < losses.numel(); ++step) {
    const Tensor loss = golden_loss(model, file);
    EXPECT_NEAR(loss.item(), losses.data()[step], 3e-5 * losses.data()[step]) << "before step " << step;
    backward(loss);
    optimizer.step();
    optimizer.zero_grad();
  }
}

TEST(PointerGenerator, ASavedModelLoadsWithTheSameBits) {
  const SafetensorsFile file = test::golden("pointer");
  Transformer model = golden_model(file);
  const test::TempFolder saved;
  model.save(saved.path());
  EXPECT_EQ(Config(saved / "config.json").text("model_type"), "attend-transformer");
  EXPECT_TRUE(Config(saved / "config.json").flag("pointer"));
  const NoGrad no_grad;
  const Tensor expected = predict_golden(model, file).logits;
  for (const bool mapped : {false, true})
    EXPECT_EQ(predict_golden(load_transformer(saved.path(), mapped), file).logits.to_vector(), expected.to_vector());
}

TEST(PointerGenerator, ModelsWithoutAPointerAreSavedAsBefore) {
  TransformerOptions o = golden_options();
  o.pointer = o.learned_positions = false;
  EXPECT_EQ(Transformer(o).config().text("model_type"), "marian");
}

TEST(PointerGenerator, Int8GivesNearlyTheSameProbabilities) {
  const SafetensorsFile file = test::golden("pointer");
  Transformer model = golden_model(file), converted = golden_model(file);
  quantise(converted);
  EXPECT_TRUE(converted.pointer.query.scales.defined());
  const test::TempFolder saved;
  converted.save(saved.path());
  const Transformer again = load_transformer(saved.path(), true);
  const NoGrad no_grad;
  const Tensor exact = predict_golden(model, file).logits, coarse = predict_golden(again, file).logits;
  EXPECT_TRUE(test::close(coarse, predict_golden(converted, file).logits, kClosePointer));
  double worst = 0;
  for (std::int64_t i = 0; i < exact.numel(); ++i)
    worst = std::max(worst, static_cast<double>(std::abs(std::exp(exact.data()[i]) - std::exp(coarse.data()[i]))));
  EXPECT_GT(worst, 0);
  EXPECT_LT(worst, 0.05);
}

TEST(PointerGenerator, BadFoldersAreErrors) {
  const SafetensorsFile file = test::golden("pointer");
  Transformer model = golden_model(file);
  const test::TempFolder saved;
  model.save(saved.path());
  const auto with = [&](const char* key, auto value) {
    Config config(saved / "config.json");
    const Config before = Config::parse(config.dump(), "config");
    config.set(key, value);
    config.save(saved / "config.json");
    const std::string message = test::error_of([&] { load_transformer(saved.path()); });
    before.save(saved / "config.json");
    return message;
  };
  EXPECT_NE(with("pointer", false).find("pointer.query.weight"), std::string::npos) << with("pointer", false);
  EXPECT_NE(with("pointer", "yes").find("\"pointer\""), std::string::npos) << with("pointer", "yes");
  EXPECT_NE(with("share_encoder_decoder_embeddings", false).find("shared embeddings"), std::string::npos)
      << with("share_encoder_decoder_embeddings", false);
}

TEST(PointerGenerator, NeedsTheTokensOfTheSource) {
  const SafetensorsFile file = test::golden("pointer");
  const Transformer model = golden_model(file);
  const NoGrad no_grad;
  const Tensor states = model.encode(file.get("ids"), file.get("lengths"));
  EXPECT_ERROR(model.decode(states, file.get("lengths"), file.get("words")), "needs the tokens of the source");
  EXPECT_ERROR(model.predict(Tensor::zeros({1, 2, 9}), Tensor::ids({2}, {1}), Tensor::ids({1}, {1, 1})), "ids");
}

TEST(PointerGenerator, TheProbeRecordsThePointerAsTheLastLayer) {
  const SafetensorsFile file = test::golden("pointer");
  const Transformer model = golden_model(file);
  Probe probe;
  model.record_attention(file.get("ids"), file.get("lengths"), file.get("words"), probe);
  EXPECT_EQ(probe.records().size(), 1u + 2 * 2 + 1);
  EXPECT_EQ(probe.records().back().layer, "decoder.2.cross");
  EXPECT_EQ(model.spec().cross.layers, 3);
  EXPECT_TRUE(model.spec().pointer);
  const Tensor weights = probe.records().back().weights, copying = file.get("copying");
  ASSERT_EQ(weights.shape(), (Shape{3, 3, 4, 6}));
  for (std::int64_t b = 0; b < 3; ++b)
    for (std::int64_t h = 0; h < 3; ++h)
      for (std::int64_t i = 0; i < 24; ++i)
        EXPECT_NEAR(weights.data()[(b * 3 + h) * 24 + i], copying.data()[b * 24 + i], 1e-5);
}

// ---- generation ----

TransformerOptions small_pointer() {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = 37;
  o.width = 12, o.encoder_layers = 2, o.decoder_layers = 2, o.encoder_heads = 2, o.decoder_heads = 3;
  o.encoder_inner = 20, o.decoder_inner = 28, o.max_positions = 16, o.start = 36, o.pointer = true;
  return o;
}
/// With sharper pointers than those of a new model.
Transformer sharp_pointer() {
  Generator generator(4);
  Transformer model(small_pointer(), generator);
  for (Linear* part : {&model.pointer.query, &model.pointer.key}) init::normal(part->weight, 1.f, generator);
  init::normal(model.shared_embedding.weight, 0.6f, generator);
  return model;
}

Tensor random_words(std::int64_t rows, std::int64_t cols, std::mt19937& random) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(rows * cols));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random() % 36);
  return Tensor::ids(ids, {rows, cols});
}

TEST(PointerGeneration, StepsEqualTeacherForcing) {
  const Transformer model = sharp_pointer();
  std::mt19937 random(7);
  const NoGrad no_grad;
  const std::int64_t B = 3, T = 6;
  const Tensor ids = random_words(B, 5, random), lengths = Tensor::ids({5, 2, 4}, {B});
  const Tensor words = random_words(B, T, random);
  Probe taught;
  const Tensor expected = model.predict(ids, lengths, words, &taught).logits;
  DecodingState state = model.start(model.encode(ids, lengths), lengths, ids);
  for (std::int64_t t = 0; t < T; ++t) {
    std::vector<std::int32_t> column;
    for (std::int64_t b = 0; b < B; ++b) column.push_back(words.data<std::int32_t>()[b * T + t]);
    Probe probe;
    const Tensor logits = model.step(Tensor::ids(column, {B}), state, &probe);
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t v = 0; v < 37; ++v)
        ASSERT_NEAR(logits.data()[b * 37 + v], expected.data()[(b * T + t) * 37 + v], 3e-5) << "step " << t;
    const Tensor &one = probe.records().back().weights, &all = taught.records().back().weights;
    EXPECT_EQ(probe.records().back().layer, taught.records().back().layer);
    for (std::int64_t row = 0; row < B * 3; ++row)
      for (std::int64_t s = 0; s < one.dim(3); ++s)
        ASSERT_NEAR(one.data()[row * one.dim(3) + s], all.data()[(row * T + t) * all.dim(3) + s], 1e-6);
  }
}

TEST(PointerGeneration, PaddingDoesNotChangeTheLogProbabilities) {
  const Transformer model = sharp_pointer();
  std::mt19937 random(3);
  const NoGrad no_grad;
  const Tensor ids = random_words(3, 7, random), lengths = Tensor::ids({7, 1, 4}, {3}),
               words = random_words(3, 4, random);
  const Tensor together = model.logits(ids, lengths, words);
  for (std::int64_t b = 0; b < 3; ++b) {
    const std::int32_t length = lengths.data<std::int32_t>()[b];
    const Tensor own =
        Tensor::ids(ids.span<std::int32_t>().subspan(static_cast<std::size_t>(b * 7), static_cast<std::size_t>(length)),
                    {1, length});
    EXPECT_TRUE(test::close(model.logits(own, Tensor::ids({length}, {1}), words.view_rows(b, b + 1)),
                            together.view_rows(b, b + 1), kClosePointer));
  }
}

// ---- an LSTM before the encoder's blocks, and the letter case of the source ----

TransformerOptions recurrent_pointer(std::int64_t layers) {
  TransformerOptions o = small_pointer();
  o.recurrent_layers = layers, o.source_case = true;
  return o;
}
/// Ids with letter case.
Tensor random_cased_words(std::int64_t rows, std::int64_t cols, std::mt19937& random) {
  Tensor ids = random_words(rows, cols, random);
  for (std::int32_t& id : ids.span<std::int32_t>()) id += 37 * static_cast<std::int32_t>(random() % 3);
  return ids;
}

TEST(RecurrentEncoder, AddsAnLstmToTheEmbeddingsAndNoPositions) {
  TransformerOptions o = recurrent_pointer(1);
  o.encoder_layers = 0;
  const Transformer model(o);
  const NoGrad no_grad;
  const Tensor ids = Tensor::ids({1, 2 + 37, 3 + 74, 1}, {1, 4}), lengths = Tensor::ids({4}, {1});
  const Tensor words = model.shared_embedding(Tensor::ids({1, 2, 3, 1}, {1, 4})) +
                       model.case_embedding(Tensor::ids({0, 1, 2, 0}, {1, 4}));
  const Tensor expected = words + model.recurrent(words, {}, lengths).y;
  EXPECT_TRUE(test::close(model.encode(ids, lengths), expected, kClosePointer));
}

TEST(RecurrentEncoder, StepsEqualTeacherForcingInAPaddedBatch) {
  Generator generator(4);
  const Transformer model(recurrent_pointer(2), generator);
  std::mt19937 random(7);
  const NoGrad no_grad;
  const Tensor ids = random_cased_words(2, 5, random), words = random_words(2, 3, random);
  const Tensor together = model.predict(ids, Tensor::ids({5, 2}, {2}), words).logits;
  const Tensor own = Tensor::ids({ids.data<std::int32_t>()[5], ids.data<std::int32_t>()[6]}, {1, 2});
  const Tensor length = Tensor::ids({2}, {1});
  DecodingState state = model.start(model.encode(own, length), length, own);
  for (std::int64_t t = 0; t < 3; ++t) {
    const Tensor logits = model.step(Tensor::ids({words.data<std::int32_t>()[3 + t]}, {1}), state, nullptr);
    for (std::int64_t v = 0; v < 37; ++v)
      ASSERT_NEAR(logits.data()[v], together.data()[(3 + t) * 37 + v], 3e-5) << "step " << t;
  }
}

TEST(RecurrentEncoder, ASavedModelLoadsWithTheSameBits) {
  Generator generator(2);
  Transformer model(recurrent_pointer(1), generator);
  std::mt19937 random(5);
  const Tensor ids = random_cased_words(1, 6, random), lengths = Tensor::ids({6}, {1}),
               words = random_words(1, 4, random);
  const test::TempFolder saved;
  model.save(saved.path());
  const NoGrad no_grad;
  const Tensor expected = model.logits(ids, lengths, words);
  for (const bool mapped : {false, true}) {
    const Transformer loaded = load_transformer(saved.path(), mapped);
    EXPECT_EQ(loaded.spec().case_step, 37);
    EXPECT_EQ(loaded.logits(ids, lengths, words).to_vector(), expected.to_vector());
  }
}

TEST(RecurrentEncoder, AllParametersGetAGradient) {
  Generator generator(2);
  Transformer model(recurrent_pointer(1), generator);
  train_parameters(model);
  std::mt19937 random(5);
  const Tensor ids = random_cased_words(2, 6, random);
  const Predictions predicted = model.predict(ids, Tensor::ids({6, 3}, {2}), random_words(2, 4, random));
  backward(cross_entropy(predicted.logits, random_words(2, 4, random)));
  for (const NamedTensor& named : parameters(model)) EXPECT_TRUE(grad(named.tensor).defined()) << named.name;
}

TEST(RecurrentEncoder, AnOddWidthIsAnError) {
  TransformerOptions o = recurrent_pointer(1);
  o.width = 9, o.encoder_heads = o.decoder_heads = 3;
  EXPECT_ERROR(Transformer{o}, "half of the width");
}

const std::vector<std::vector<std::int32_t>> kSources{{1, 2, 3, 2, 7, 9}, {5, 6}, {7, 8, 9, 8}};

TEST(PointerGeneration, RowsThatJoinAreSelectedOrStayHaveTheSameBitsAsAlone) {
  const Transformer model = sharp_pointer();
  std::mt19937 random(11);
  const std::int32_t start = 36;
  const auto started = [&](std::size_t i) {
    return model.start(std::vector<GenerationInput>{{.source = kSources[i], .prompt = {&start, 1}}}).state;
  };
  std::vector<std::unique_ptr<GenerationState>> alone;
  std::unique_ptr<GenerationState> together;
  for (std::size_t step = 0; step < 9; ++step) {
    if (step % 2 == 0 && alone.size() < kSources.size()) {
      auto more = started(alone.size());
      alone.push_back(started(alone.size()));
      if (together)
        together->join(std::move(*more));
      else
        together = std::move(more);
    }
    if (step == 6) {  // the sequences change places
      together->select(std::vector<std::int64_t>{2, 0, 1});
      std::rotate(alone.begin(), alone.begin() + 2, alone.end());
    }
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < alone.size(); ++i) ids.push_back(static_cast<std::int32_t>(random() % 36));
    const Tensor all = model.step(Tensor::ids(ids, {std::ssize(ids)}), *together);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const Tensor one = model.step(Tensor::ids({ids[i]}, {1}), *alone[i]);
      for (std::int64_t v = 0; v < 37; ++v)
        ASSERT_EQ(all.data()[static_cast<std::int64_t>(i) * 37 + v], one.data()[v]) << "step " << step << ", row " << i;
    }
  }
}

/// All beams of a source, by exhaustive bookkeeping: each hypothesis is scored again from its tokens alone.
TEST(PointerGeneration, ABeamFindsTheSameHypothesesInABatchAndScoresThemByTeacherForcing) {
  const Transformer model = sharp_pointer();
  const SearchOptions options{.beam = 3, .nbest = 3, .max_new_tokens = 6, .start = 36, .ends = {0}};
  const auto search_in = [&](std::vector<std::vector<std::int32_t>> sources) {
    std::vector<SearchInput> inputs;
    for (std::vector<std::int32_t>& source : sources) inputs.push_back({.source = std::move(source)});
    return search(model, std::move(inputs), options);
  };
  const auto together = search_in(kSources);
  const NoGrad no_grad;
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    const auto alone = search_in({kSources[i]});
    ASSERT_EQ(together[i].size(), 3u);
    for (std::size_t n = 0; n < 3; ++n) {
      const Hypothesis& one = together[i][n];
      EXPECT_EQ(one.ids, alone[0][n].ids);
      EXPECT_NEAR(one.log_probability, alone[0][n].log_probability, 1e-4);
      std::vector<std::int32_t> words{36};
      words.insert(words.end(), one.ids.begin(), one.ids.end() - 1);
      const auto S = std::ssize(kSources[i]), T = std::ssize(words);
      const Tensor logits = model.logits(Tensor::ids(kSources[i], {1, S}),
                                         Tensor::ids({static_cast<std::int32_t>(S)}, {1}), Tensor::ids(words, {1, T}));
      double sum = 0;
      for (std::int64_t t = 0; t < T; ++t) sum += logits.data()[t * 37 + one.ids[static_cast<std::size_t>(t)]];
      EXPECT_NEAR(one.log_probability, sum, 1e-4);
    }
    EXPECT_GE(together[i][0].score, together[i][1].score);
  }
}

TEST(PointerGeneration, CopiesTokensThatItWouldNeverGenerate) {
  Transformer model = sharp_pointer();
  model.pointer.gate.bias.fill(-50.f);
  const SearchOptions options{.max_new_tokens = 5, .start = 36, .ends = {0}};
  const auto found = search(model, {{.source = {30, 31, 32}}}, options);
  for (const std::int32_t id : found[0][0].ids) EXPECT_TRUE(id >= 30 && id <= 32) << id;
}

}  // namespace
}  // namespace attend
