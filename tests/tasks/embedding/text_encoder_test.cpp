// Embeddings are compared with those of sentence-transformers' modules, written in PyTorch (tests/golden/bert_uses.py).
#include "attend/tasks/embedding/text_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/tasks/bert_fixture.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using test::bert_fixture;
using test::Expected;

void expect_vectors(const Embeddings& result, JsonValue expected) {
  ASSERT_EQ(static_cast<std::size_t>(result.vectors.dim(0)), expected.size());
  for (std::int64_t row = 0; row < result.vectors.dim(0); ++row) {
    const std::vector<float> wanted = test::numbers(expected[static_cast<std::size_t>(row)]);
    const Tensor got = result.vectors.view_rows(row, row + 1).reshape({-1});
    EXPECT_TRUE(test::close(got, Tensor::from(wanted, {std::ssize(wanted)}), {1e-5f, 1e-5f})) << "text " << row;
  }
}

TEST(TextEncoder, GivesTheVectorsOfASentenceTransformersFolder) {
  const TextEncoder encoder(bert_fixture("sentence_mean"));
  const Expected expected("sentence_mean");
  EXPECT_EQ(encoder.size(), 8);
  EXPECT_EQ(encoder.max_tokens(), 16);
  const Embeddings result = encoder.embed(expected.texts());
  expect_vectors(result, expected["vectors"]);
  expect_vectors(encoder.embed(expected.texts(), {.normalize = false}), expected["not_normalized"]);
  EXPECT_EQ(result.truncated[0], 0);
  EXPECT_GT(result.truncated[4], 0);
}

TEST(TextEncoder, ConcatenatesSeveralPoolingsAndAppliesLaterModules) {
  const TextEncoder encoder(bert_fixture("sentence_dense"));
  const Expected expected("sentence_dense");
  EXPECT_EQ(encoder.size(), 5);
  EXPECT_EQ(encoder.prompt("query"), "the child: ");
  EXPECT_FALSE(encoder.prompt("passage").has_value());
  expect_vectors(encoder.embed(expected.texts()), expected["vectors"]);
  expect_vectors(encoder.embed(expected.texts(), {.prompt = encoder.prompt("document")}), expected["documents"]);
}

TEST(TextEncoder, APoolingOfTheFolderIsTheSameAsTheOption) {
  const test::TempFolder folder;
  fs::copy(bert_fixture("sentence_mean"), folder.path(), fs::copy_options::recursive);
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
  write("config_sentence_transformers.json",
        R"({"prompts": {"query": "", "document": ""}, "default_prompt_name": null, "similarity_fn_name": "cosine"})");
  const TextEncoder mean(bert_fixture("sentence_mean"));
  const std::string text = "the child has seen";
  for (const auto& [key, pooling] : {std::pair("cls_token", Pooling::cls),
                                     {"max_tokens", Pooling::max},
                                     {"mean_tokens", Pooling::mean},
                                     {"mean_sqrt_len_tokens", Pooling::mean_sqrt_length},
                                     {"weightedmean_tokens", Pooling::weighted_mean},
                                     {"lasttoken", Pooling::last}}) {
    const Tensor expected = mean(text, {.pool = pooling});
    write("1_Pooling/config.json",
          std::string(R"({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": false, )") + "\"pooling_mode_" +
              key + "\": true}");
    EXPECT_TRUE(test::close(TextEncoder(folder.path())(text), expected, {1e-6f, 1e-6f})) << key;
  }
  write("1_Pooling/config.json", R"({"embedding_dimension": 8, "pooling_mode": "lasttoken"})");
  EXPECT_TRUE(test::close(TextEncoder(folder.path())(text), mean(text, {.pool = Pooling::last}), {1e-6f, 1e-6f}));
  write("1_Pooling/config.json", R"({"pooling_mode": "attention"})");
  EXPECT_ERROR(TextEncoder(folder.path()), "attention");
  write("1_Pooling/config.json", R"({"pooling_mode_attention": true})");
  EXPECT_ERROR(TextEncoder(folder.path()), "\"pooling_mode_attention\" is not supported");
}

TEST(TextEncoder, PutsThePromptsOfAFolderBeforeQueriesAndPassages) {
  const TextEncoder encoder(bert_fixture("sentence_mpnet"));
  const Expected expected("sentence_mpnet");
  expect_vectors(encoder.embed(expected.texts()), expected["vectors"]);
  for (const char* name : {"query", "passage"})
    expect_vectors(encoder.embed(expected.texts(), {.prompt = encoder.prompt(name)}), expected[name]);
}

TEST(TextEncoder, APlainFolderUsesMeanPoolingByDefault) {
  const TextEncoder encoder(bert_fixture("roberta_words"));
  const Expected expected("roberta_words");
  expect_vectors(encoder.embed(expected.texts()), expected["mean"]);
  expect_vectors(encoder.embed(expected.texts(), {.pool = Pooling::max}), expected["max"]);
  expect_vectors(encoder.embed(expected.texts(), {.pool = Pooling::cls}), expected["cls"]);
  const Tensor unit = encoder("Nobody here", {.normalize = true});
  double square = 0;
  for (const float x : unit.span()) square += static_cast<double>(x) * static_cast<double>(x);
  EXPECT_NEAR(square, 1, 1e-6);
}

TEST(TextEncoder, GivesATextTheSameVectorInAnyBatch) {
  const TextEncoder encoder(bert_fixture("sentence_mean"));
  const std::vector<std::string> texts = Expected("sentence_mean").texts();
  const Tensor all = encoder.embed(texts).vectors, few = encoder.embed(texts, {.batch_tokens = 1}).vectors;
  EXPECT_TRUE(test::close(few, all, {1e-6f, 1e-6f}));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    EXPECT_TRUE(test::close(encoder(texts[i]), all.view_rows(row, row + 1).reshape({-1}), {1e-6f, 1e-6f})) << texts[i];
  }
  EXPECT_EQ(encoder.embed({}).vectors.shape(), (Shape{0, 8}));
}

TEST(TextEncoder, TruncatesSplitsOrRejectsLongTexts) {
  const TextEncoder encoder(bert_fixture("sentence_mean"));
  const std::string text = "the child the child the child";  // 8 tokens with [CLS] and [SEP]
  EXPECT_ERROR(encoder(text, {.max_tokens = 5, .long_text = LongText::error}), "got 8 tokens, expected at most 5");
  const Embeddings split = encoder.embed(std::span(&text, 1), {.max_tokens = 5, .long_text = LongText::split});
  EXPECT_EQ(split.pieces[0], 2);
  EXPECT_EQ(split.truncated[0], 0);
  // Both halves have five tokens.
  const EmbedOptions plain{.normalize = false};
  const Tensor first = encoder("the child the", plain), second = encoder("child the child", plain);
  const Tensor both = encoder(text, {.normalize = false, .max_tokens = 5, .long_text = LongText::split});
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(both.data()[i], (first.data()[i] + second.data()[i]) / 2, 1e-6);
}

TEST(TextEncoder, ReturnsStatesTokensAndAttentionOfAText) {
  const TextEncoder encoder(bert_fixture("sentence_mean"));
  const TextStates read = encoder.read("Nobody here", true);
  ASSERT_EQ(read.tokens.size(), read.spans.size());
  EXPECT_EQ(read.tokens.front(), "[CLS]");
  EXPECT_EQ(read.states.shape(), (Shape{std::ssize(read.tokens), 8}));
  ASSERT_EQ(read.attention.size(), 2u);
  EXPECT_EQ(read.attention[1].weights.shape(), (Shape{1, 2, std::ssize(read.tokens), std::ssize(read.tokens)}));
  EXPECT_TRUE(encoder.read("Nobody here").attention.empty());
}

TEST(TextEncoder, UnsupportedModulesAreErrorsThatNameThem) {
  const test::TempFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; };
  write("modules.json", R"([{"type": "sentence_transformers.models.CNN", "path": ""}])");
  EXPECT_ERROR(TextEncoder(folder.path()), "expected Transformer as the first module");
  write("modules.json",
        R"([{"type": "a.Transformer", "path": ""}, {"type": "sentence_transformers.models.WeightedLayerPooling"}])");
  EXPECT_ERROR(TextEncoder(folder.path()), "has the module WeightedLayerPooling");
  write("modules.json", R"({"a": 1})");
  EXPECT_ERROR(TextEncoder(folder.path()), "expected an array");
  fs::remove(folder / "modules.json");
  write("config.json", R"({"model_type": "t5"})");
  EXPECT_ERROR(TextEncoder(folder.path()), "holds a model of type \"t5\", expected an encoder");
}

TEST(TextEncoder, APoolingThatDoesNotFitTheNextModuleIsAnError) {
  const TextEncoder encoder(bert_fixture("sentence_dense"));
  const std::vector<std::string> texts = {"the king"};
  EXPECT_THROW(encoder.embed(texts, {.pool = Pooling::max}), InputError);
  EXPECT_ERROR(encoder.embed(texts, {.pool = Pooling::max}), "the module Dense takes vectors of 36 numbers");
}

TEST(TextEncoder, ALinkToItselfIsAnError) {
  const test::TempFolder folder;
  fs::create_symlink("modules.json", folder / "modules.json");
  EXPECT_THROW(TextEncoder(folder.path()), InputError);
}

}  // namespace
}  // namespace attend
