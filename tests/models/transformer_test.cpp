// The Transformer is compared with Hugging Face's Marian (tests/golden/marian.py) and with PyTorch's nn.Transformer
// (tests/golden/transformer.py).
#include "attend/models/transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "attend/formats/weights.h"
#include "attend/nn/module.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/editable_folder.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

// float32 has about 7 digits. Sums in another order, through two to four layers and norms, lose one or two of them.
// Logits have terms above 10, so small logits have the absolute error of large ones.
constexpr test::Tolerance kClose{.relative = 1e-5f, .absolute = 3e-5f};

fs::path fixture(const std::string& name) { return fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name; }
SafetensorsFile golden_of(const std::string& name) { return SafetensorsFile(fixture(name) / "golden.safetensors"); }

void save(Transformer& model, const fs::path& folder) {
  Config config;
  model.options.write(config);
  config.save(folder / "config.json");
  save_parameters(model, folder / "model.safetensors");
}

/// Trains with AdamW as the golden script does, and compares the loss before each step.
void expect_losses(Transformer& model, const SafetensorsFile& file, const Tensor& losses) {
  train_parameters(model);
  AdamW optimizer(parameters(model), {.learning_rate = 3e-3, .weight_decay = 0.01f});
  for (std::int64_t step = 0; step < losses.numel(); ++step) {
    const Tensor lengths = file.get("lengths");
    const Tensor logits = model.decode(model.encode(file.get("ids"), lengths), lengths, file.get("words"));
    const Tensor loss = cross_entropy(logits, file.get("targets"), {.label_smoothing = 0.1f});
    EXPECT_NEAR(loss.item(), losses.data()[step], 2e-5 * losses.data()[step]) << "before step " << step;
    backward(loss);
    optimizer.step();
    optimizer.zero_grad();
  }
}

class MarianFolder : public testing::TestWithParam<const char*> {
 protected:
  const fs::path folder_ = fixture(GetParam());
  const SafetensorsFile golden_ = golden_of(GetParam());
  const Tensor ids_ = golden_.get("ids"), lengths_ = golden_.get("lengths"), words_ = golden_.get("words");
};
INSTANTIATE_TEST_SUITE_P(Transformer, MarianFolder,
                         testing::Values("marian_tied", "marian_separate", "marian_bin", "marian_old_bin",
                                         "marian_sharded", "marian_tokenizer"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(MarianFolder, GivesHuggingFacesStatesLogitsAndAttention) {
  const Transformer model = load_transformer(folder_);
  const NoGrad no_grad;
  Probe probe;
  const Tensor states = model.encode(ids_, lengths_, &probe);
  const Tensor logits = model.decode(states, lengths_, words_, &probe);
  EXPECT_TRUE(test::close(states, golden_.get("states"), kClose));
  EXPECT_TRUE(test::close(logits, golden_.get("logits"), kClose));
  std::size_t layers = 0;
  for (const std::string& name : golden_.names())
    layers += name.starts_with("encoder.") || name.starts_with("decoder.");
  EXPECT_EQ(probe.records().size(), layers);
  for (const auto& [layer, weights] : probe.records())
    EXPECT_TRUE(test::close(weights, golden_.get(layer), kClose)) << layer;
}

TEST_P(MarianFolder, AMappedModelGivesTheSameLogits) {
  Transformer mapped = load_transformer(folder_, true), model = load_transformer(folder_);
  for (const NamedTensor& named : parameters(mapped)) EXPECT_FALSE(named.tensor.sole_owner()) << named.name;
  const NoGrad no_grad;
  EXPECT_TRUE(test::close(mapped.decode(mapped.encode(ids_, lengths_), lengths_, words_),
                          model.decode(model.encode(ids_, lengths_), lengths_, words_), kClose));
}

TEST_P(MarianFolder, AProbeDoesNotChangeTheLogits) {
  const Transformer model = load_transformer(folder_);
  const NoGrad no_grad;
  Probe probe;
  const Tensor probed = model.decode(model.encode(ids_, lengths_, &probe), lengths_, words_, &probe);
  const Tensor alone = model.decode(model.encode(ids_, lengths_), lengths_, words_);
  EXPECT_EQ(probed.to_vector(), alone.to_vector());
}

TEST_P(MarianFolder, PaddingDoesNotChangeTheLogitsOfASentence) {
  const Transformer model = load_transformer(folder_);
  const NoGrad no_grad;
  const Tensor together = model.decode(model.encode(ids_, lengths_), lengths_, words_);
  for (std::int64_t row = 0; row < ids_.dim(0); ++row) {
    const std::int32_t length = lengths_.data<std::int32_t>()[row];
    const std::int32_t* ids = ids_.data<std::int32_t>() + row * ids_.dim(1);
    const Tensor one = Tensor::ids({length}, {1});
    const Tensor states = model.encode(Tensor::ids(std::span(ids, static_cast<std::size_t>(length)), {1, length}), one);
    const Tensor logits = model.decode(states, one, words_.view_rows(row, row + 1));
    EXPECT_TRUE(test::close(logits, together.view_rows(row, row + 1), kClose)) << "row " << row;
  }
}

TEST_P(MarianFolder, GeneratesHuggingFacesGreedyTokens) {
  const Transformer model = load_transformer(folder_);
  const NoGrad no_grad;
  const Tensor expected = golden_.get("greedy");  // [B, T], the start included
  const std::int64_t B = expected.dim(0), T = expected.dim(1), V = model.options.target_vocabulary;
  const auto word = [&](std::int64_t row, std::int64_t t) { return expected.data<std::int32_t>()[row * T + t]; };
  DecodingState state = model.start(model.encode(ids_, lengths_), lengths_);
  std::vector<bool> ended(static_cast<std::size_t>(B), false);
  for (std::int64_t t = 0; t + 1 < T; ++t) {
    std::vector<std::int32_t> words;
    for (std::int64_t row = 0; row < B; ++row) words.push_back(word(row, t));
    const Tensor logits = model.step(Tensor::ids(words, {B}), state, nullptr);
    for (std::int64_t row = 0; row < B; ++row) {
      float* scores = logits.data() + row * V;
      scores[model.options.padding] = -1e30f;  // bad_words_ids
      const auto best = static_cast<std::int32_t>(std::max_element(scores, scores + V) - scores);
      if (ended[static_cast<std::size_t>(row)] || t + 2 == T) continue;  // the last token is forced to be the end
      EXPECT_EQ(best, word(row, t + 1)) << "row " << row << ", after " << t + 1 << " tokens";
      if (best == model.options.end) ended[static_cast<std::size_t>(row)] = true;
    }
  }
}

TEST_P(MarianFolder, TenTrainingStepsMatchPyTorch) {
  Transformer model = load_transformer(folder_);
  expect_losses(model, golden_, golden_.get("losses"));
}

TEST_P(MarianFolder, ASavedModelLoadsUnchanged) {
  const test::TempFolder saved;
  Transformer model = load_transformer(folder_);
  save(model, saved.path());
  EXPECT_EQ(Config(saved / "config.json").text("model_type"), "marian");
  const Transformer again = load_transformer(saved.path());
  const NoGrad no_grad;
  // The sinusoidal positions of a folder may be rounded differently from ours: PyTorch's files have NumPy's.
  EXPECT_TRUE(test::close(again.decode(again.encode(ids_, lengths_), lengths_, words_), golden_.get("logits"), kClose));
  const std::vector<NamedTensor> before = parameters(model);
  for (const NamedTensor& named : before)
    EXPECT_EQ(Weights(saved.path()).get(named.name).to_vector(), named.tensor.to_vector()) << named.name;
}

TEST(Transformer, MatchesPyTorchWithOptionsThatMarianDoesNotHave) {
  const SafetensorsFile file = test::golden("transformer");
  for (const std::string choice : {"pre_final_relu", "pre_final_gelu", "post_final_relu", "post_gelu"}) {
    TransformerOptions o;
    o.source_vocabulary = 19, o.target_vocabulary = 23, o.width = 9, o.encoder_layers = 1, o.decoder_layers = 2;
    o.encoder_heads = o.decoder_heads = 3, o.encoder_inner = o.decoder_inner = 13, o.max_positions = 8;
    o.shared_embeddings = o.tied_output = o.scale_embedding = false, o.learned_positions = true;
    o.pre_norm = choice.starts_with("pre"), o.final_norm = choice.find("final") != choice.npos;
    o.activation = choice.ends_with("relu") ? Activation::relu : Activation::gelu;
    Transformer model(o);
    for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
      const Tensor values = file.get(choice + "/" + name);
      ASSERT_EQ(values.shape(), tensor.shape()) << name;
      std::ranges::copy(values.span(), tensor.data());
    });
    const Tensor lengths = file.get("lengths");
    {
      const NoGrad no_grad;
      const Tensor states = model.encode(file.get("ids"), lengths);
      EXPECT_TRUE(test::close(states, file.get(choice + "/states"), kClose)) << choice;
      EXPECT_TRUE(test::close(model.decode(states, lengths, file.get("words")), file.get(choice + "/logits"), kClose))
          << choice;
      const test::TempFolder saved;
      save(model, saved.path());
      EXPECT_EQ(Config(saved / "config.json").text("model_type"), "attend-transformer");
      const Transformer again = load_transformer(saved.path());
      EXPECT_EQ(again.encode(file.get("ids"), lengths).to_vector(), states.to_vector()) << choice;
    }
    expect_losses(model, file, file.get(choice + "/losses"));
  }
}

// ---- loading folders ----

struct Editable : test::EditableFolder {
  explicit Editable(const std::string& name) : EditableFolder(fixture(name)) {}
  Transformer load() const {
    return loaded([](const std::filesystem::path& folder) { return load_transformer(folder); });
  }
};

TEST(Transformer, TiedEmbeddingsAreLoadedUnderAnyOfTheirNames) {
  const std::string names[] = {"model.shared.weight", "model.encoder.embed_tokens.weight",
                               "model.decoder.embed_tokens.weight", "lm_head.weight"};
  Editable tied("marian_tied");
  const Tensor table = tied.tensors.at(names[0]);
  for (unsigned present = 1; present < 16; ++present) {
    for (unsigned i = 0; i < 4; ++i) {
      tied.tensors.erase(names[i]);
      if (present >> i & 1) tied.tensors[names[i]] = table;
    }
    EXPECT_EQ(tied.load().shared_embedding.weight.to_vector(), table.to_vector()) << present;
  }
  tied.tensors[names[3]] = Tensor::zeros(table.shape());
  EXPECT_ERROR(tied.load(), "\"model.shared.weight\" and \"lm_head.weight\" differ");
  for (const std::string& name : names) tied.tensors.erase(name);
  EXPECT_ERROR(tied.load(), "parameters are missing from the file: \"model.shared.weight\"");

  Editable separate("marian_separate");
  const Tensor target = separate.tensors.at(names[2]);
  separate.tensors[names[3]] = target;
  separate.load();
  separate.tensors.erase(names[2]);
  EXPECT_EQ(separate.load().target_embedding.weight.to_vector(), target.to_vector());
  separate.tensors.erase(names[1]);
  EXPECT_ERROR(separate.load(), "\"model.encoder.embed_tokens.weight\"");
}

TEST(Transformer, PositionsAndTheOutputBiasAreOptional) {
  Editable folder("marian_bin");
  ASSERT_TRUE(folder.tensors.contains("model.encoder.embed_positions.weight"));
  const Transformer with = folder.load();
  std::erase_if(folder.tensors, [](const auto& named) { return named.first.find("positions") != std::string::npos; });
  EXPECT_TRUE(test::close(folder.load().positions, with.positions, {0.f, 1e-6f}));
  folder.tensors.erase("final_logits_bias");
  EXPECT_EQ(folder.load().output_bias.to_vector(), std::vector<float>(63, 0.f));
  folder.tensors.erase("model.decoder.layers.0.fc1.bias");
  EXPECT_ERROR(folder.load(), "1 parameters are missing from the file: \"model.decoder.layers.0.fc1.bias\"");
  folder.tensors["classification_head.weight"] = Tensor::zeros({1});
  folder.tensors["model.decoder.layers.0.fc1.bias"] = Tensor::zeros({31});
  EXPECT_ERROR(folder.load(), "belong to no parameter: \"classification_head.weight\"");
}

TEST(Transformer, UnsupportedConfigurationsAreErrorsThatNameTheKey) {
  const auto refuses = [](const char* key, const auto& value, const std::string& why) {
    Editable folder("marian_tied");
    folder.config.set(key, value);
    const std::string message = test::error_of([&] { folder.load(); });
    EXPECT_NE(message.find(why), std::string::npos) << key << ": " << message;
  };
  for (const char* key : {"normalize_before", "add_final_layer_norm", "normalize_embedding", "is_decoder"})
    refuses(key, true, std::string("\"") + key + "\" is true");
  for (const char* key : {"static_position_embeddings", "is_encoder_decoder"})
    refuses(key, false, std::string("\"") + key + "\" is false");
  refuses("activation_function", "quick_gelu", "\"activation_function\" is \"quick_gelu\", expected one of relu");
  Config other;
  other.set("quant_method", "gptq");
  refuses("quantization_config", other, "\"quantization_config\"");
  refuses("model_type", "whisper", "\"whisper\", expected one of marian");
  refuses("decoder_start_token_id", 61, "\"decoder_start_token_id\" is 61");
  refuses("pad_token_id", -1, "\"pad_token_id\" is -1");
  refuses("eos_token_id", std::vector<std::string>{"0"}, "\"eos_token_id\" is");
  refuses("d_model", "wide", "\"d_model\" is \"wide\", expected an integer");
  refuses("decoder_vocab_size", 62, "shared embeddings need the same vocabulary for source and target: got 61 and 62");
  refuses("encoder_attention_heads", 4, "heads");
  refuses("encoder_ffn_dim", 28, "has the wrong shape: got [27, 15], expected [28, 15]");
}

TEST(Transformer, SizesOutOfRangeAreErrorsThatNameTheKey) {
  for (const char* key :
       {"vocab_size", "decoder_vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads",
        "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim", "max_position_embeddings"})
    for (const std::int64_t value : {std::int64_t{1'000'000'000'000}, std::int64_t{-1}}) {
      Editable folder("marian_tied");
      folder.config.set(key, value);
      EXPECT_ERROR(folder.load(), "\"" + std::string(key) + "\" is " + std::to_string(value) + ", expected ");
      EXPECT_THROW(folder.load(), InputError);
    }
}

TEST(Transformer, PreNormNeedsAFinalNorm) {
  Editable folder("marian_tied");
  folder.config.set("model_type", "attend-transformer");
  folder.config.set("normalize_before", true);
  EXPECT_ERROR(folder.load(), "pre_norm (\"normalize_before\") needs final_norm (\"add_final_layer_norm\")");
  EXPECT_THROW(folder.load(), InputError);
}

TEST(Transformer, ProjectionsOfALoadedModelAreContiguousInMemory) {
  const auto follows = [](const Tensor& a, const Tensor& b) {
    return a.shares_memory_with(b) && b.data() == a.data() + a.numel();
  };
  const Transformer model = load_transformer(fixture("marian_tied"));
  for (const TransformerBlock& layer : model.decoder.blocks)
    for (const MultiHeadAttention* attention : {&layer.self_attention, &layer.cross_attention}) {
      EXPECT_TRUE(follows(attention->query.weight, attention->key.weight));
      EXPECT_TRUE(follows(attention->key.weight, attention->value.weight));
      EXPECT_TRUE(follows(attention->key.bias, attention->value.bias));
    }
  EXPECT_TRUE(follows(model.encoder.blocks.at(0).self_attention.key.weight,
                      model.encoder.blocks.at(0).self_attention.value.weight));
}

// Writes folders for tests/golden/encoder_decoder_round_trip.py, which loads them with transformers.
TEST(Transformer, DISABLED_WritesFoldersForTransformers) {
  const char* target = std::getenv("ATTEND_SAVED");
  ASSERT_TRUE(target) << "set ATTEND_SAVED to the output folder";
  Generator generator(7);
  for (const bool shared : {true, false})
    for (const bool tied : {true, false})
      for (const Activation activation : {Activation::relu, Activation::gelu, Activation::silu}) {
        TransformerOptions o;
        o.source_vocabulary = 31, o.target_vocabulary = shared ? 31 : 29, o.width = 21, o.encoder_layers = 2;
        o.decoder_layers = 1, o.encoder_heads = 7, o.decoder_heads = 3, o.encoder_inner = 17, o.decoder_inner = 23;
        o.shared_embeddings = shared, o.tied_output = tied, o.activation = activation, o.scale_embedding = tied;
        o.max_positions = 16, o.padding = o.start = 28;
        Transformer model(o, generator);
        init::normal(model.output_bias, 1.f, generator);
        const fs::path folder = fs::path(target) / ("marian" + std::to_string(shared) + std::to_string(tied) +
                                                    std::to_string(static_cast<int>(activation)));
        fs::create_directories(folder);
        save(model, folder);
        const Tensor ids = Tensor::ids({1, 2, 3, 4, 0, 7, 8, 0, 28, 28}, {2, 5}), lengths = Tensor::ids({5, 3}, {2});
        const Tensor words = Tensor::ids({28, 5, 6, 28, 9, 10}, {2, 3});
        const NoGrad no_grad;
        const Tensor logits = model.decode(model.encode(ids, lengths), lengths, words);
        save_safetensors(folder / "outputs.safetensors",
                         {{{"ids", ids}, {"lengths", lengths}, {"words", words}, {"logits", logits}}});
      }
}

}  // namespace
}  // namespace attend
