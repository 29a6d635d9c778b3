// BART, mBART, M2M-100, PEGASUS, T5 and mT5 are compared with Hugging Face's models (tests/golden/encoder_decoders.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attend/formats/safetensors.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"
#include "attend/nn/module.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr test::Tolerance kClose{.relative = 1e-5f, .absolute = 3e-5f};

class EncoderDecoderFolder : public testing::TestWithParam<const char*> {
 protected:
  const fs::path folder_ = fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / GetParam();
  const SafetensorsFile golden_{folder_ / "golden.safetensors"};
  const Tensor ids_ = golden_.get("ids"), lengths_ = golden_.get("lengths"), words_ = golden_.get("words");

  /// The attention weights of a layer, with zeros for the queries of the encoder that are padding: nothing uses them,
  /// and families differ in their positions.
  Tensor without_padding(const std::string& layer, const Tensor& weights) const {
    Tensor kept = Tensor::from(weights.to_vector(), weights.shape());
    const std::int64_t H = weights.dim(1), T = weights.dim(2), S = weights.dim(3);
    if (layer.starts_with("encoder."))
      for (std::int64_t row = 0; row < weights.dim(0) * H; ++row)
        for (std::int64_t t = lengths_.data<std::int32_t>()[row / H]; t < T; ++t)
          std::fill_n(kept.data() + (row * T + t) * S, S, 0.f);
    return kept;
  }
};
INSTANTIATE_TEST_SUITE_P(Transformer, EncoderDecoderFolder,
                         testing::Values("bart_forced", "bart_scaled", "bart_tokenizer", "t5_relu", "t5_gated",
                                         "t5_untied", "t5_tokenizer", "mbart", "m2m_100", "m2m_100_odd", "pegasus",
                                         "mt5", "mt5_untied", "pegasus_tokenizer", "mbart50_tokenizer",
                                         "m2m_100_tokenizer", "nllb_tokenizer"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(EncoderDecoderFolder, GivesHuggingFacesStatesLogitsAndAttention) {
  const Transformer model = load_transformer(folder_);
  const NoGrad no_grad;
  Probe probe;
  const Tensor states = model.encode(ids_, lengths_, &probe);
  // The states of padding may differ: nothing uses them.
  for (std::int64_t row = 0; row < ids_.dim(0); ++row) {
    const std::int64_t length = lengths_.data<std::int32_t>()[row];
    const auto rows = [&](const Tensor& all) {
      return all.view_rows(row, row + 1).reshape({all.dim(1), all.dim(2)}).view_rows(0, length);
    };
    EXPECT_TRUE(test::close(rows(states), rows(golden_.get("states")), kClose)) << "row " << row;
  }
  EXPECT_TRUE(test::close(model.decode(states, lengths_, words_, &probe), golden_.get("logits"), kClose));
  std::size_t layers = 0;
  for (const std::string& name : golden_.names())
    layers += name.starts_with("encoder.") || name.starts_with("decoder.");
  EXPECT_EQ(probe.records().size(), layers);
  for (const auto& [layer, weights] : probe.records())
    EXPECT_TRUE(test::close(without_padding(layer, weights), without_padding(layer, golden_.get(layer)), kClose))
        << layer;
}

TEST_P(EncoderDecoderFolder, TakesFeaturesInPlaceOfIds) {
  const Transformer model = load_transformer(folder_);
  const NoGrad no_grad;
  const Tensor features = golden_.get("features"), lengths = golden_.get("feature_lengths");
  const Tensor states = model.encode(features, lengths), expected = golden_.get("feature_states");
  for (std::int64_t row = 0; row < features.dim(0); ++row) {
    const std::int64_t length = lengths.data<std::int32_t>()[row], T = features.dim(1), W = features.dim(2);
    EXPECT_TRUE(test::close(states.view_rows(row, row + 1).reshape({T, W}).view_rows(0, length),
                            expected.view_rows(row, row + 1).reshape({T, W}).view_rows(0, length), kClose))
        << "row " << row;
  }
}

TEST_P(EncoderDecoderFolder, StepByStepEqualsTeacherForcing) {
  const Transformer model = load_transformer(folder_, true);
  const NoGrad no_grad;
  const Tensor states = model.encode(ids_, lengths_), expected = model.decode(states, lengths_, words_);
  DecodingState state = model.start(states, lengths_);
  const std::int64_t B = words_.dim(0), T = words_.dim(1), V = expected.dim(2);
  for (std::int64_t t = 0; t < T; ++t) {
    std::vector<std::int32_t> column;
    for (std::int64_t b = 0; b < B; ++b) column.push_back(words_.data<std::int32_t>()[b * T + t]);
    const Tensor logits = model.step(Tensor::ids(column, {B}), state, nullptr);
    for (std::int64_t b = 0; b < B; ++b)
      EXPECT_TRUE(test::close(
          logits.view_rows(b, b + 1),
          Tensor::from(std::vector<float>(expected.data() + (b * T + t) * V, expected.data() + (b * T + t + 1) * V),
                       {1, V}),
          kClose))
          << "row " << b << ", token " << t;
  }
}

TEST_P(EncoderDecoderFolder, ASequenceThatJoinsLaterHasTheSameLogits) {
  const Transformer model = load_transformer(folder_, true);
  const std::int64_t S = ids_.dim(1);
  const std::int32_t first[] = {model.options.start};
  const auto input = [&](std::int64_t row) {
    return GenerationInput{
        {ids_.data<std::int32_t>() + row * S, static_cast<std::size_t>(lengths_.data<std::int32_t>()[row])}, first};
  };
  const auto token = [&](std::int64_t row, std::int64_t t) {
    return words_.data<std::int32_t>()[row * words_.dim(1) + t];
  };
  const GenerationInput one[] = {input(0)}, two[] = {input(1)};
  StartedGeneration alone = model.start(two);
  const Tensor alone_next = model.step(Tensor::ids({token(1, 1)}, {1}), *alone.state);

  StartedGeneration together = model.start(one);
  model.step(Tensor::ids({token(0, 1)}, {1}), *together.state);
  StartedGeneration joining = model.start(two);
  together.state->join(std::move(*joining.state));
  EXPECT_EQ(together.state->rows(), 2);
  EXPECT_EQ(together.state->length(0), 2);
  EXPECT_EQ(together.state->length(1), 1);
  const Tensor next = model.step(Tensor::ids({token(0, 2), token(1, 1)}, {2}), *together.state);
  EXPECT_TRUE(test::close(next.view_rows(1, 2), alone_next, kClose));
}

TEST_P(EncoderDecoderFolder, TenTrainingStepsMatchPyTorch) {
  Transformer model = load_transformer(folder_);
  train_parameters(model);
  AdamW optimizer(parameters(model), {.learning_rate = 3e-3, .weight_decay = 0.01f});
  const Tensor losses = golden_.get("losses");
  for (std::int64_t step = 0; step < losses.numel(); ++step) {
    const Tensor logits = model.decode(model.encode(ids_, lengths_), lengths_, words_);
    const Tensor loss = cross_entropy(logits, golden_.get("targets"), {.label_smoothing = 0.1f});
    EXPECT_NEAR(loss.item(), losses.data()[step], 5e-5 * losses.data()[step]) << "before step " << step;
    backward(loss);
    optimizer.step();
    optimizer.zero_grad();
  }
}

TEST_P(EncoderDecoderFolder, ASavedModelLoadsUnchanged) {
  const test::TempFolder saved;
  Transformer model = load_transformer(folder_);
  model.save(saved.path());
  const Transformer again = load_transformer(saved.path(), true);
  const NoGrad no_grad;
  EXPECT_TRUE(test::close(again.logits(ids_, lengths_, words_), golden_.get("logits"), kClose));
  EXPECT_EQ(ModelFolder(saved.path()).family().type, ModelFolder(folder_).family().type);
}

// Writes folders for tests/golden/encoder_decoder_round_trip.py, which loads them with transformers.
TEST_P(EncoderDecoderFolder, DISABLED_WritesFoldersForTransformers) {
  const char* target = std::getenv("ATTEND_SAVED");
  ASSERT_TRUE(target) << "set ATTEND_SAVED to the output folder";
  const fs::path folder = fs::path(target) / GetParam();
  fs::create_directories(folder);
  Transformer model = load_transformer(folder_);
  model.save(folder);
  const NoGrad no_grad;
  save_safetensors(
      folder / "outputs.safetensors",
      {{{"ids", ids_}, {"lengths", lengths_}, {"words", words_}, {"logits", model.logits(ids_, lengths_, words_)}}});
}

TEST(EncoderDecoder, OldTablesOfFairseqsPositionsAreIgnored) {
  const fs::path folder = fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures/m2m_100";
  const test::TempFolder old;
  fs::copy_file(folder / "config.json", old.path() / "config.json");
  const SafetensorsFile weights(folder / "model.safetensors"), golden(folder / "golden.safetensors");
  std::vector<NamedTensor> all;
  for (const std::string& name : weights.names()) all.push_back({name, weights.get(name)});
  all.push_back({"model.encoder.embed_positions.weights", Tensor::zeros({42, 18})});
  save_safetensors(old.path() / "model.safetensors", all);
  const NoGrad no_grad;
  const Transformer model = load_transformer(old.path());
  EXPECT_TRUE(test::close(model.logits(golden.get("ids"), golden.get("lengths"), golden.get("words")),
                          golden.get("logits"), kClose));
}

TEST(EncoderDecoder, AConfigThatAsksForAnotherArchitectureIsRefused) {
  for (const char* folder : {"mbart", "m2m_100", "pegasus", "bart_forced"}) {
    const fs::path path = fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / folder;
    const bool bart = std::string(folder) == "bart_forced";
    for (const char* key : {"normalize_before", "add_final_layer_norm"}) {
      Config config(path / "config.json");
      config.set(key, bart);
      EXPECT_ERROR(TransformerOptions::read(config),
                   "\"" + std::string(key) + "\" is " + (bart ? "true" : "false") + ", which is not supported");
    }
  }
  Config config(fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures/mt5/config.json");
  config.set("feed_forward_proj", "relu");
  EXPECT_ERROR(TransformerOptions::read(config), "\"feed_forward_proj\" is \"relu\", expected a gated activation");
}

/// The keys that config.json of published folders has besides sizes and token ids; null removes a key.
constexpr std::pair<const char*, const char*> kPublished[] = {
    // facebook/bart-large-cnn
    {"bart_forced",
     R"({"_num_labels": 3, "activation_dropout": 0.0, "activation_function": "gelu", "add_bias_logits": false,
      "add_final_layer_norm": false, "attention_dropout": 0.0, "classif_dropout": 0.0, "classifier_dropout": 0.0,
      "dropout": 0.1, "early_stopping": true, "encoder_layerdrop": 0.0, "force_bos_token_to_be_generated": true,
      "gradient_checkpointing": false, "id2label": {"0": "LABEL_0"}, "init_std": 0.02, "label2id": {"LABEL_0": 0},
      "length_penalty": 2.0, "max_length": 142, "min_length": 56, "no_repeat_ngram_size": 3, "normalize_before": false,
      "normalize_embedding": true, "num_beams": 4, "output_past": true, "prefix": " ", "scale_embedding": false,
      "static_position_embeddings": false, "task_specific_params": {"summarization": {"num_beams": 4}},
      "pad_token_id": null, "eos_token_id": null, "decoder_start_token_id": null, "tie_word_embeddings": null})"},
    // google/pegasus-xsum
    {"pegasus", R"({"activation_function": "relu", "add_bias_logits": false, "add_final_layer_norm": true,
      "classif_dropout": 0.0, "extra_pos_embeddings": 1, "force_bos_token_to_be_generated": false,
      "length_penalty": 0.6, "max_length": 64, "normalize_before": true, "normalize_embedding": false, "num_beams": 8,
      "scale_embedding": true, "static_position_embeddings": true, "task_specific_params": null,
      "pad_token_id": null, "eos_token_id": null, "decoder_start_token_id": null, "tie_word_embeddings": null})"},
    // facebook/mbart-large-50-many-to-many-mmt
    {"mbart", R"({"add_bias_logits": false, "add_final_layer_norm": true, "classif_dropout": 0.0, "max_length": 200,
      "normalize_before": true, "normalize_embedding": true, "num_beams": 5, "output_past": true,
      "scale_embedding": true, "static_position_embeddings": false, "tokenizer_class": "MBart50Tokenizer",
      "pad_token_id": null, "eos_token_id": null, "tie_word_embeddings": null})"},
    // facebook/m2m100_418M, facebook/nllb-200-distilled-600M
    {"m2m_100", R"({"attention_dropout": 0.1, "decoder_layerdrop": 0.05, "early_stopping": true,
      "gradient_checkpointing": false, "max_length": 200, "num_beams": 5, "tokenizer_class": "NllbTokenizer",
      "activation_function": null, "scale_embedding": null, "pad_token_id": null, "eos_token_id": null,
      "decoder_start_token_id": null, "tie_word_embeddings": null})"},
    // google/flan-t5-small
    {"t5_gated", R"({"dense_act_fn": "gelu_new", "is_gated_act": true, "n_positions": 512, "output_past": true,
      "initializer_factor": 1.0, "task_specific_params": {}, "tie_word_embeddings": false,
      "scale_decoder_outputs": null})"},
    // google/mt5-small
    {"mt5", R"({"feed_forward_proj": "gated-gelu", "tie_word_embeddings": false, "tokenizer_class": "T5Tokenizer"})"},
};

TEST(EncoderDecoder, TheKeysOfPublishedFoldersAreUnderstood) {
  for (const auto& [name, keys] : kPublished) {
    const fs::path folder = fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name;
    const test::TempFolder published;
    fs::copy(folder, published.path(), fs::copy_options::recursive);
    nlohmann::json config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
    config.merge_patch(nlohmann::json::parse(keys));
    std::ofstream(published / "config.json") << config;
    const SafetensorsFile golden(folder / "golden.safetensors");
    const NoGrad no_grad;
    const Transformer model = load_transformer(published.path()), original = load_transformer(folder);
    EXPECT_TRUE(test::close(model.logits(golden.get("ids"), golden.get("lengths"), golden.get("words")),
                            golden.get("logits"), kClose))
        << name;
    EXPECT_EQ(std::tuple(model.options.padding, model.options.start, model.options.end),
              std::tuple(original.options.padding, original.options.start, original.options.end))
        << name;
  }
}

TEST_P(EncoderDecoderFolder, Int8StaysCloseAndLoadsAgain) {
  const test::TempFolder saved;
  const std::shared_ptr<Model> model = ModelFolder(folder_).load();
  quantise(*model);
  model->save(saved.path());
  const auto again = ModelFolder(saved.path()).model<Seq2SeqModel>("test", Ability::translate);
  const NoGrad no_grad;
  const Tensor logits = again->logits(ids_, lengths_, words_), expected = golden_.get("logits");
  // Projections that are neighbours in memory run as one product, whose last bits may differ; rounding to int8 enlarges
  // the difference.
  EXPECT_TRUE(test::close(logits, dynamic_cast<const Transformer&>(*model).logits(ids_, lengths_, words_),
                          {.relative = 1e-3f, .absolute = 1e-3f}));
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < logits.numel(); ++i) {
    error += std::pow(logits.data()[i] - expected.data()[i], 2), size += std::pow(expected.data()[i], 2);
  }
  EXPECT_LT(error, 0.01 * size);
  EXPECT_ERROR(ModelFolder(saved.path()).load(), "int8 weights, which can be run, but not trained");
}

}  // namespace
}  // namespace attend
