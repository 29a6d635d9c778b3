// Long work does not wait for the model thread: here there is none, so that only long work is done.
#include "attend/serve/served_model.h"

#include <gtest/gtest.h>

#include "attend/serve/api.h"
#include "tests/serve/serving.h"

namespace attend::test {
namespace {

/// An API with one model that nobody runs.
class Idle {
 public:
  explicit Idle(const std::filesystem::path& folder)
      : api_({.timeout = std::chrono::milliseconds(1500)}, models(folder)) {}
  const serve::ServedModel& model() const { return *api_.models().front(); }
  int post(const std::string& path, const Json& body) {
    serve::Call call{.method = "POST", .path = path, .body = body.dump(), .content_type = "application/json"};
    return api_.answer(call).status;
  }

 private:
  static std::vector<std::unique_ptr<serve::ServedModel>> models(const std::filesystem::path& folder) {
    std::vector<std::unique_ptr<serve::ServedModel>> all;
    all.push_back(
        std::make_unique<serve::ServedModel>("model", folder, ModelFolder(folder), serve::ModelLimits(), [] {}));
    return all;
  }
  serve::Api api_;
};

TEST(ServedModel, TheAttentionOfALongPairIsLongWork) {
  Idle idle(kWords);
  Json body{{"model", "model"}, {"input", "to be"}, {"pair", std::string(3000, 'a')}, {"long", "truncate"}};
  EXPECT_EQ(idle.post("/v1/attention", body), 200);
  body["pair"] = "or not";
  EXPECT_EQ(idle.post("/v1/attention", body), 504);
}

TEST(ServedModel, TheScoreOfAPromptBeyondTheContextIsLongWork) {
  Idle idle(kGpt2);
  Json body{{"model", "model"}, {"prompt", "The"}, {"max_tokens", 1}, {"logprobs", 0}, {"echo", true}};
  // The generation, which follows the score, needs the model thread in any case.
  EXPECT_EQ(idle.post("/v1/completions", body), 504);
  EXPECT_EQ(idle.model().prompt_tokens, 0u);
  body["prompt"] = std::vector<int>(static_cast<std::size_t>(idle.model().context.value()) + 10, 5);
  body["long"] = "slide";
  EXPECT_EQ(idle.post("/v1/completions", body), 504);
  EXPECT_GT(idle.model().prompt_tokens, 0u);
}

}  // namespace
}  // namespace attend::test
