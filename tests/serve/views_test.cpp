// What the explorer learns about a model before it asks for its attention.
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/models/recurrent_classifier.h"
#include "attend/models/registry.h"
#include "tests/serve/serving.h"
#include "tests/support/temp_folder.h"

namespace attend::test {
namespace {

/// A recurrent classifier without training, with the tokenizer of another model.
void save_classifier(const std::filesystem::path& folder, StatePooling pooling) {
  const Tokenizer tokenizer = ModelFolder(kWords).tokenizer();
  RecurrentClassifierOptions options;
  options.vocabulary = tokenizer.size(), options.labels = {"a", "b"}, options.embedding = options.hidden = 6;
  options.pooling = pooling;
  RecurrentClassifier(options).save(folder);
  save_tokenizer(tokenizer, folder);
}

bool can(const Json& model, const char* what) {
  return std::ranges::find(model["capabilities"], what) != model["capabilities"].end();
}

TEST(Models, TellWhatTheirAttentionTakes) {
  const TempFolder attends, pools;
  save_classifier(attends.path(), StatePooling::attention);
  save_classifier(pools.path(), StatePooling::mean);
  ServerOptions options;
  options.models = {{"words", kWords}, {"gpt2", kGpt2}, {"attends", attends.path()}, {"pools", pools.path()}};
  options.port = 0;
  const Serving serving(options);
  std::map<std::string, Json> models;
  const Json all = serving.get("/v1/models").json;
  for (const Json& one : all["data"]) models[one["id"]] = one;
  for (const auto& [name, attention, pairs] : {std::tuple("words", true, true), std::tuple("gpt2", true, false),
                                               std::tuple("attends", true, false), std::tuple("pools", false, false)}) {
    EXPECT_EQ(can(models[name], "attention"), attention) << name;
    EXPECT_EQ(can(models[name], "pairs"), pairs) << name;
    // A model answers what it offers, and refuses what it does not.
    const Json request{{"model", name}, {"input", "to be"}};
    EXPECT_EQ(serving.post("/v1/attention", request).status == 200, attention) << name;
    Json pair = request;
    pair["pair"] = "or not";
    EXPECT_EQ(serving.post("/v1/attention", pair).status == 200, pairs) << name;
  }
}

}  // namespace
}  // namespace attend::test
