// Several adapters of one model, each served under a name of its own.
#include <gtest/gtest.h>

#include <future>

#include "attend/models/adapter.h"
#include "attend/models/registry.h"
#include "attend/tasks/language_model/language_model.h"
#include "tests/serve/serving.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::Json;
using test::kGpt2;

/// An adapter with random B, which changes what the model generates.
void write_adapter(const std::filesystem::path& folder, std::uint64_t seed) {
  const std::shared_ptr<Model> model = ModelFolder(kGpt2).model()->share();
  Generator generator(seed);
  const AdapterInfo info = AdapterInfo::of({.rank = 2, .targets = {"all-linear"}}, kGpt2, "CAUSAL_LM");
  for (const auto& [name, tensor] : train_adapters(*model, info, generator))
    init::normal(const_cast<Tensor&>(tensor), 0.5f, generator);
  save_adapter(*model, info, folder);
}

TEST(ServedAdapters, EachNameAnswersAsItsAdapterAloneAlsoAtTheSameTime) {
  const test::TempFolder one, two;
  write_adapter(one.path(), 1), write_adapter(two.path(), 2);
  ServerOptions options;
  options.models = {{"gpt2", kGpt2}, {"one", kGpt2, one.path()}, {"two", kGpt2, two.path()}};
  options.port = 0;
  const test::Serving serving(options);
  std::map<std::string, std::string> expected;
  for (const auto& [name, folder, adapter] : options.models) {
    const LanguageModel model(adapter.empty() ? ModelFolder(folder) : ModelFolder(ModelFolder(folder), adapter));
    expected[name] = model("the cat", {{.greedy = true, .max_new_tokens = 12}}).text;
  }
  EXPECT_NE(expected["gpt2"], expected["one"]);
  EXPECT_NE(expected["one"], expected["two"]);
  std::vector<std::pair<std::string, std::future<std::string>>> answers;
  for (int i = 0; i < 4; ++i)
    for (const auto& [name, text] : expected)
      answers.emplace_back(
          name, std::async(std::launch::async, [&serving, name = name] {
            const Json asked{{"model", name}, {"prompt", "the cat"}, {"max_tokens", 12}, {"temperature", 0}};
            return serving.post("/v1/completions", asked).json.at("choices").at(0).at("text").get<std::string>();
          }));
  for (auto& [name, answer] : answers) EXPECT_EQ(answer.get(), expected[name]) << name;
}

}  // namespace
}  // namespace attend
