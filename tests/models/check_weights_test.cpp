#include "attend/models/check_weights.h"

#include <gtest/gtest.h>

#include "attend/models/registry.h"
#include "tests/support/editable_folder.h"
#include "tests/support/errors.h"

namespace attend::test {
namespace {

struct Folder : EditableFolder {
  explicit Folder(const std::string& name)
      : EditableFolder(std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name) {}
  std::string error() const {
    return error_of([&] { loaded([](const std::filesystem::path& path) { return ModelFolder(path).model(); }); });
  }
};

#define EXPECT_REFUSED(folder, why)                                                  \
  do {                                                                               \
    const std::string message = (folder).error();                                    \
    EXPECT_NE(message.find(why), std::string::npos) << "the error was: " << message; \
  } while (false)

TEST(CheckWeights, FewerLayersThanInTheWeightsAreAnErrorWithBothNumbers) {
  Folder bert("bert_bert_sequenceclassification");
  bert.config.set("num_hidden_layers", 1);
  EXPECT_REFUSED(bert, "config.json: \"num_hidden_layers\" is 1, but the weights in ");
  EXPECT_REFUSED(bert, " have 2 layers (encoder.layer.0 to encoder.layer.1)");
  Folder gpt2("gpt2_old_bin");
  gpt2.config.set("n_layer", 1);
  EXPECT_REFUSED(gpt2, "\"n_layer\" is 1, but the weights in ");
  Folder marian("marian_tied");
  marian.config.set("encoder_layers", 0);
  EXPECT_REFUSED(marian, "\"encoder_layers\" is 0, but the weights in ");
}

TEST(CheckWeights, SizesFarAboveTheWeightsAreErrorsBeforeAnythingIsAllocated) {
  Folder bert("bert_bert_sequenceclassification");
  bert.config.set("vocab_size", std::int64_t{1} << 26);
  EXPECT_REFUSED(bert, "config.json: a model of these sizes has at least ");
  EXPECT_REFUSED(bert, "do the two files belong together?");
  Folder gpt2("gpt2_unscaled");
  gpt2.config.set("vocab_size", std::int64_t{1} << 26);
  EXPECT_REFUSED(gpt2, "a model of these sizes has at least ");
  Folder marian("marian_tied");
  marian.config.set("encoder_ffn_dim", std::int64_t{1} << 20);
  EXPECT_REFUSED(marian, "a model of these sizes has at least ");
  Folder positions("marian_tied");  // computed, so the weights do not bound them
  positions.config.set("max_position_embeddings", std::int64_t{1} << 30);
  EXPECT_REFUSED(positions, "\"max_position_embeddings\" is 1073741824, expected 1 to ");
}

TEST(CheckWeights, IntegersAreNoWeights) {
  Folder gpt2("gpt2_unscaled");
  Tensor& weight = gpt2.tensors.begin()->second;
  weight = Tensor::zeros(weight.shape(), DType::i32);
  EXPECT_REFUSED(gpt2, "tensor \"" + gpt2.tensors.begin()->first +
                           "\" has the wrong dtype: got int32, expected floating-point weights");
  weight = Tensor::zeros(weight.shape(), DType::i8);
  EXPECT_REFUSED(gpt2, "got int8, expected floating-point weights");
}

TEST(CheckWeights, NonsenseInAConfigIsAnErrorThatNamesFileKeyAndValue) {
  const auto refuses = [](const char* folder, const char* key, double value, const std::string& why) {
    Folder edited(folder);
    edited.config.set(key, value);
    EXPECT_REFUSED(edited, why);
  };
  refuses("bert_bert_sequenceclassification", "layer_norm_eps", 0.,
          "config.json: \"layer_norm_eps\" is 0.0, expected a positive number");
  refuses("bert_bert_sequenceclassification", "layer_norm_eps", -1e-5,
          "\"layer_norm_eps\" is -1e-05, expected a positive number");
  refuses("bert_bert_sequenceclassification", "hidden_dropout_prob", 1.5,
          "\"hidden_dropout_prob\" is 1.5, expected a number from 0 to 1");
  refuses("gpt2_unscaled", "layer_norm_epsilon", 1e300, "\"layer_norm_epsilon\" is 1e+300, expected a positive number");
  refuses("gpt2_unscaled", "resid_pdrop", -0.5, "\"resid_pdrop\" is -0.5, expected a number from 0 to 1");
  refuses("marian_tied", "attention_dropout", 2., "\"attention_dropout\" is 2.0, expected a number from 0 to 1");
  Folder zero("marian_tied");
  zero.config.set("d_model", 0);
  EXPECT_REFUSED(zero, "\"d_model\" is 0, expected 1 to ");
  for (const auto& [folder, key] :
       {std::pair("bert_bert_sequenceclassification", "num_attention_heads"), std::pair("gpt2_unscaled", "n_head"),
        std::pair("marian_tied", "decoder_attention_heads")}) {
    Folder heads(folder);
    heads.config.set(key, 1000);
    EXPECT_REFUSED(heads, "\"" + std::string(key) + "\" is 1000, expected a divisor of the width ");
  }
}

}  // namespace
}  // namespace attend::test
