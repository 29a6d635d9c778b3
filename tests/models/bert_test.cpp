// Models of BERT's family are compared with Hugging Face's (tests/golden/bert.py).
#include "attend/models/bert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "attend/formats/weights.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr test::Tolerance kClose{.relative = 1e-5f, .absolute = 2e-5f};

fs::path fixture(const std::string& name) { return fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name; }

BertInput input_of(const SafetensorsFile& golden) {
  const Tensor lengths = golden.get("lengths");
  const auto values = lengths.span<std::int32_t>();
  return {golden.get("ids"), golden.get("types"), {values.begin(), values.end()}};
}

Tensor all_rows(std::int64_t count) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return Tensor::ids(rows, {count});
}

/// Compares all outputs that are in the golden file.
void expect_golden(const Bert& model, const SafetensorsFile& golden) {
  const BertInput input = input_of(golden);
  Probe probe;
  const Tensor states = model.encode(input, &probe);
  EXPECT_TRUE(test::close(states, golden.get("states"), kClose));
  const auto compare = [&](const char* name, auto&& compute) {
    if (!golden.contains(name)) return;
    EXPECT_TRUE(test::close(compute(), golden.get(name), kClose)) << name;
  };
  const bool of_texts = model.options.head == BertHead::sequence_classification;
  compare("pooled", [&] { return model.pool(states, input.lengths); });
  compare("words", [&] { return model.predict_tokens(states, all_rows(states.dim(0))); });
  compare("follows", [&] { return model.predict_next_sentence(states, input.lengths); });
  compare("labels", [&] { return of_texts ? model.label_texts(states, input.lengths) : model.label_tokens(states); });
  compare("answer", [&] { return model.find_answer(states); });

  ASSERT_EQ(static_cast<std::int64_t>(probe.records().size()), model.options.layers);
  for (std::size_t layer = 0; layer < probe.records().size(); ++layer) {
    const std::string name = golden.contains("attention") ? "attention" : "attention." + std::to_string(layer);
    const Tensor weights = probe.records()[layer].weights, expected = golden.get(name);
    ASSERT_EQ(weights.shape(), expected.shape());
    const std::int64_t H = weights.dim(1), T = weights.dim(2);
    for (std::int64_t row = 0; row < weights.rows(); ++row) {
      const std::int64_t length = input.lengths[static_cast<std::size_t>(row / (H * T))];
      if (row % T >= length) continue;  // Hugging Face's padding
      for (std::int64_t j = 0; j < T; ++j)
        ASSERT_NEAR(weights.data()[row * T + j], expected.data()[row * T + j], 1e-5)
            << name << ": " << row << ", " << j;
    }
    if (name == "attention") break;  // of the first layer only
  }
}

class BertFolder : public testing::TestWithParam<const char*> {
 protected:
  const fs::path folder_ = fixture(GetParam());
  const SafetensorsFile golden_{folder_ / "golden.safetensors"};
};

TEST_P(BertFolder, GivesTheOutputsOfHuggingFace) {
  std::vector<std::string> initialised, unused;
  expect_golden(load_bert(folder_, {.initialised = &initialised, .unused = &unused}), golden_);
  EXPECT_EQ(initialised, std::vector<std::string>{});
  EXPECT_EQ(unused, std::vector<std::string>{});
  expect_golden(load_bert(folder_, {.mapped = true}), golden_);
}

TEST_P(BertFolder, IsTheSameWhenSavedAndReadAgain) {
  const test::TempFolder temp;
  Bert model = load_bert(folder_);
  model.save(temp.path());
  expect_golden(load_bert(temp.path()), golden_);
}

TEST_P(BertFolder, PackingDoesNotChangeTheStatesOfAText) {
  const Bert model = load_bert(folder_);
  const BertInput all = input_of(golden_);
  const Tensor states = model.encode(all);
  for (std::int64_t begin = 0; const std::int64_t length : all.lengths) {
    const auto part = [&](const Tensor& x) { return x.view_rows(begin, begin + length); };
    EXPECT_TRUE(test::close(model.encode({part(all.ids), part(all.types), {length}}), part(states), kClose));
    begin += length;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , BertFolder,
    testing::Values("bert_bert_model", "bert_bert_maskedlm", "bert_bert_sequenceclassification",
                    "bert_bert_tokenclassification", "bert_bert_questionanswering", "bert_distilbert_model",
                    "bert_distilbert_maskedlm", "bert_distilbert_sequenceclassification",
                    "bert_distilbert_tokenclassification", "bert_distilbert_questionanswering", "bert_roberta_model",
                    "bert_roberta_maskedlm", "bert_roberta_sequenceclassification", "bert_roberta_tokenclassification",
                    "bert_roberta_questionanswering", "bert_pretraining", "bert_nextsentence", "bert_old_names",
                    "bert_untied", "bert_sharded", "bert_xlm_roberta", "bert_electra_model", "bert_electra_maskedlm",
                    "bert_electra_sequenceclassification", "bert_electra_tokenclassification",
                    "bert_electra_questionanswering", "bert_electra_wide", "bert_mpnet_model", "bert_mpnet_maskedlm",
                    "bert_mpnet_sequenceclassification", "bert_mpnet_tokenclassification",
                    "bert_mpnet_questionanswering", "bert_albert_model", "bert_albert_maskedlm",
                    "bert_albert_sequenceclassification", "bert_albert_tokenclassification",
                    "bert_albert_questionanswering", "bert_albert_pretraining", "bert_modernbert_model",
                    "bert_modernbert_maskedlm", "bert_modernbert_sequenceclassification",
                    "bert_modernbert_tokenclassification", "bert_modernbert_questionanswering", "bert_modernbert_mean",
                    "bert_modernbert_yarn", "bert_modernbert_llama3", "bert_published_mpnet", "bert_published_electra",
                    "bert_published_albert", "bert_published_modernbert", "bert_published_bge"),
    [](const auto& info) { return std::string(info.param); });

TEST(ModernBert, RopeScalingOfOldFoldersReplacesTheParametersOfAllLayers) {
  Config config(fixture("bert_modernbert_llama3") / "config.json");
  Config scaling;
  scaling.set("rope_type", "linear"), scaling.set("factor", 4.0);
  config.set("rope_scaling", scaling);
  const BertRotary rotary = BertOptions::read(config).rotary.value();
  for (const RotaryParameters* one : {&rotary.global, &rotary.local_layers}) {
    EXPECT_EQ(one->scaling, RotaryScaling::linear);
    EXPECT_EQ(one->factor, 4.0);
  }
  EXPECT_EQ(rotary.global.theta, 50.0) << "of rope_parameters";
}

TEST(ModernBert, UnknownOrIncompleteScalingIsAnError) {
  const auto error = [](const char* key, auto value) {
    Config config(fixture("bert_modernbert_llama3") / "config.json");
    Config scaling;
    scaling.set(key, value);
    config.set("rope_scaling", scaling);
    return test::error_of([&] { BertOptions::read(config); });
  };
  EXPECT_NE(error("rope_type", "spiral").find("spiral"), std::string::npos);
  EXPECT_NE(error("rope_type", "longrope").find("factor"), std::string::npos);
  EXPECT_NE(error("factor", -1.0).find("factor"), std::string::npos);
  EXPECT_NE(error("low_freq_factor", 2.0).find("\"low_freq_factor\" is 2, expected less than"), std::string::npos);
  Config config(fixture("bert_modernbert_model") / "config.json");
  Config scaling;
  scaling.set("rope_type", "linear");
  config.set("rope_scaling", scaling);
  EXPECT_ERROR(BertOptions::read(config), "factor");
}

TEST(ModernBert, EachKeyOfDropoutActsWhereItDoesInTransformers) {
  // A dropout of 1 leaves nothing of what it acts on, as weights of 0 do.
  const SafetensorsFile golden(fixture("bert_modernbert_model") / "golden.safetensors");
  const auto states = [&](const char* key, const char* emptied) {
    const test::TempFolder folder;
    fs::copy(fixture("bert_modernbert_model"), folder.path());
    Config config(folder / "config.json");
    if (*key) config.set(key, 1.0);
    config.save(folder / "config.json");
    Bert model = load_bert(folder.path());
    for (const NamedTensor& parameter : parameters(model))
      if (*emptied && parameter.name.ends_with(emptied)) Tensor(parameter.tensor).fill(0.f);
    const NoGrad no_grad;
    const Training training(*key != 0);
    return model.encode(input_of(golden));
  };
  const Tensor plain = states("", "");
  for (const auto& [key, emptied] : {std::pair("mlp_dropout", ".intermediate.gate.weight"),
                                     {"attention_dropout", ".attention.output.dense.weight"},
                                     {"embedding_dropout", "embeddings.LayerNorm.weight"}}) {
    const Tensor dropped = states(key, "");
    EXPECT_TRUE(test::close(dropped, states("", emptied), kClose)) << key;
    EXPECT_FALSE(test::close(dropped, plain, kClose)) << key;
  }
  EXPECT_TRUE(test::close(states("classifier_dropout", ""), plain, kClose)) << "that of the head";
}

TEST(Bert, AFolderOfTheEncoderAloneMayNameTheClassOfItsPreTraining) {
  const Bert model = load_bert(fixture("bert_published_mpnet"), {.mapped = true});
  EXPECT_EQ(model.options.head, BertHead::none);
  EXPECT_ERROR(load_bert(fixture("bert_published_mpnet"), {.head = BertHead::masked_lm, .mapped = true}),
               "lacks lm_head.dense.weight");
}

/// Writes folders for tests/golden/bert_round_trip.py, which loads them with transformers.
TEST(Bert, DISABLED_WritesFoldersForTransformers) {
  const char* target = std::getenv("ATTEND_SAVED");
  ASSERT_TRUE(target) << "set ATTEND_SAVED to the output folder";
  for (const auto& entry : fs::directory_iterator(fixture(""))) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("bert_")) continue;
    Bert model = load_bert(entry.path());
    const fs::path folder = fs::path(target) / name;
    fs::create_directories(folder);
    model.save(folder);
    const SafetensorsFile golden(entry.path() / "golden.safetensors");
    const BertInput input = input_of(golden);
    const NoGrad no_grad;
    const Tensor states = model.encode(input);
    std::vector<NamedTensor> said{
        {"ids", input.ids}, {"types", input.types}, {"lengths", golden.get("lengths")}, {"states", states}};
    const BertHead head = model.options.head;
    if (head == BertHead::sequence_classification) said.push_back({"head", model.label_texts(states, input.lengths)});
    if (head == BertHead::token_classification) said.push_back({"head", model.label_tokens(states)});
    if (head == BertHead::next_sentence) said.push_back({"head", model.predict_next_sentence(states, input.lengths)});
    if (head == BertHead::question_answering) said.push_back({"head", model.find_answer(states)});
    if (head == BertHead::masked_lm || head == BertHead::pre_training)
      said.push_back({"head", model.predict_tokens(states, all_rows(states.dim(0)))});
    save_safetensors(folder / "outputs.safetensors", said);
  }
}

class TrainedBert : public testing::TestWithParam<const char*> {};

TEST_P(TrainedBert, TenStepsMatchHuggingFace) {
  const SafetensorsFile golden(fixture(GetParam()) / "golden.safetensors");
  Bert model = load_bert(fixture(GetParam()));
  train_parameters(model);
  AdamW optimizer(parameters(model), {.learning_rate = 3e-3, .weight_decay = 0.01f});
  const BertInput input = input_of(golden);
  const Tensor losses = golden.get("losses");
  for (std::int64_t step = 0; step < losses.numel(); ++step) {
    const Tensor states = model.encode(input);
    Tensor loss = cross_entropy(model.predict_tokens(states, golden.get("hidden_rows")), golden.get("hidden_words"));
    if (model.next_sentence.defined())
      loss = loss + cross_entropy(model.predict_next_sentence(states, input.lengths), golden.get("following"));
    EXPECT_NEAR(loss.item(), losses.data()[step], 5e-5 * losses.data()[step]) << "before step " << step;
    backward(loss);
    optimizer.step();
    optimizer.zero_grad();
  }
}

INSTANTIATE_TEST_SUITE_P(, TrainedBert,
                         testing::Values("bert_pretraining", "bert_electra_maskedlm", "bert_mpnet_maskedlm",
                                         "bert_albert_maskedlm", "bert_modernbert_maskedlm"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Bert, AHeadThatTheFolderDoesNotHaveIsInitialisedAndReported) {
  std::vector<std::string> initialised, unused;
  const Bert model = load_bert(fixture("bert_pretraining"), {.head = BertHead::sequence_classification,
                                                             .labels = {"no", "yes", "perhaps"},
                                                             .initialised = &initialised,
                                                             .unused = &unused});
  EXPECT_EQ(initialised, (std::vector<std::string>{"classifier.weight", "classifier.bias"}));
  EXPECT_TRUE(std::ranges::count(unused, "cls.seq_relationship.weight") == 1) << unused.size();
  EXPECT_EQ(model.labels.weight.shape(), (Shape{3, 12}));
  EXPECT_EQ(model.labels.bias.data()[0], 0.f);
  // The folder has a head for other labels.
  initialised.clear();
  const Bert other =
      load_bert(fixture("bert_roberta_sequenceclassification"),
                {.head = BertHead::sequence_classification, .labels = {"a", "b"}, .initialised = &initialised});
  EXPECT_EQ(initialised, (std::vector<std::string>{"classifier.out_proj.weight", "classifier.out_proj.bias"}));
  EXPECT_EQ(other.options.labels, (std::vector<std::string>{"a", "b"}));
}

TEST(Bert, TheHeadOfAnotherClassWithTheSameNameIsNotLoaded) {
  std::vector<std::string> initialised;
  const Bert model = load_bert(fixture("bert_modernbert_sequenceclassification"),
                               {.head = BertHead::question_answering, .initialised = &initialised});
  EXPECT_EQ(initialised, (std::vector<std::string>{"classifier.weight", "classifier.bias"}));
  EXPECT_EQ(model.answer.weight.shape(), (Shape{2, 12}));
}

TEST(Bert, LoadsTheEncoderWithoutTheHead) {
  for (const char* name : {"bert_bert_maskedlm", "bert_roberta_maskedlm", "bert_distilbert_questionanswering"}) {
    const Bert model = load_bert(fixture(name), {.head = BertHead::none, .mapped = true});
    const SafetensorsFile golden(fixture(name) / "golden.safetensors");
    EXPECT_TRUE(test::close(model.encode(input_of(golden)), golden.get("states"), kClose)) << name;
    EXPECT_ERROR(model.pool(golden.get("states"), input_of(golden).lengths), "no head for pooling");
  }
}

TEST(Bert, TheDiscriminatorOfElectraIsLoadedWithoutItsHead) {
  std::vector<std::string> unused;
  const Bert model = load_bert(fixture("bert_electra_discriminator"), {.unused = &unused});
  const SafetensorsFile golden(fixture("bert_electra_discriminator") / "golden.safetensors");
  expect_golden(model, golden);
  EXPECT_EQ(std::ranges::count(unused, "discriminator_predictions.dense.weight"), 1);
}

TEST(Bert, QuantisedFoldersGiveAlmostTheSameStates) {
  for (const char* name : {"bert_electra_model", "bert_mpnet_model", "bert_albert_model", "bert_modernbert_model"}) {
    const test::TempFolder temp;
    Bert model = load_bert(fixture(name));
    quantise(model);
    model.save(temp.path());
    const Bert loaded = load_bert(temp.path(), {.mapped = true});
    const BertInput input = input_of(SafetensorsFile(fixture(name) / "golden.safetensors"));
    const NoGrad no_grad;
    EXPECT_TRUE(test::close(loaded.encode(input), model.encode(input), kClose)) << name;
  }
}

TEST(Bert, MissingWeightsAndWrongInputsAreErrors) {
  EXPECT_ERROR(load_bert(fixture("bert_bert_maskedlm"), {.head = BertHead::question_answering, .mapped = true}),
               "qa_outputs.weight");
  EXPECT_ERROR(load_bert(fixture("bert_bert_maskedlm"), {.head = BertHead::sequence_classification}), "has no labels");
  EXPECT_ERROR(load_bert(fixture("marian_tied")), "expected one of bert, distilbert");
  const Bert model = load_bert(fixture("bert_bert_model"));
  EXPECT_ERROR(model.encode({Tensor::zeros({17}, DType::i32), {}, {17}}),
               "got 17 tokens, the model has positions for 16");
  EXPECT_ERROR(model.encode({Tensor::zeros({3}, DType::i32), {}, {2}}), "expected [2]");
  EXPECT_ERROR(model.predict_tokens(model.encode({Tensor::zeros({2}, DType::i32), {}, {2}}), all_rows(1)),
               "no head for masked tokens");
  const auto with = [](const char* key, const char* value) {
    return Config::parse(std::string("{\"model_type\": \"bert\", \"") + key + "\": " + value + "}", "config.json");
  };
  EXPECT_ERROR(BertOptions::read(with("position_embedding_type", "\"relative_key\"")), "relative_key");
  EXPECT_ERROR(BertOptions::read(with("num_hidden_layers", "1000000000000")), "num_hidden_layers");
  EXPECT_ERROR(BertOptions::read(with("pad_token_id", "99999")), "pad_token_id");
  const auto unsupported = [](const char* type, const char* key, const char* value) {
    EXPECT_ERROR(BertOptions::read(Config::parse(
                     std::string("{\"model_type\": \"") + type + "\", \"" + key + "\": " + value + "}", "config.json")),
                 key);
  };
  unsupported("mpnet", "relative_attention_num_buckets", "16");
  unsupported("albert", "inner_group_num", "2");
  unsupported("albert", "num_hidden_groups", "5");
  unsupported("modernbert", "norm_bias", "true");
  unsupported("modernbert", "decoder_bias", "false");
  unsupported("modernbert", "layer_types", "[\"full_attention\"]");
  unsupported("modernbert", "max_position_embeddings", "1000000");
  EXPECT_ERROR(Bert({.variant = &kRoberta, .head = BertHead::next_sentence, .padding = 1}),
               "\"roberta\" have no head for next-sentence prediction");
  EXPECT_ERROR(Bert({.width = 10, .heads = 3}), "divide the width");
}

}  // namespace
}  // namespace attend
