#include "attend/serve/memory_budget.h"

#include <gtest/gtest.h>

#include <optional>

#include "attend/serve/api_error.h"
#include "tests/serve/serving.h"

namespace attend::test {
namespace {

using serve::ApiError;
using serve::MemoryBudget;

int status_of(MemoryBudget::Reservation& reservation, double bytes) {
  try {
    reservation.add(bytes);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.retry_after > 0, error.status == 503);
    return error.status;
  }
  return 200;
}

TEST(MemoryBudget, RefusesWhatDoesNotFitNowAndWhatCanNeverFit) {
  MemoryBudget budget(1000);
  std::optional<MemoryBudget::Reservation> first(std::in_place, budget);
  MemoryBudget::Reservation second(budget);
  EXPECT_EQ(status_of(*first, 600), 200);
  EXPECT_EQ(status_of(*first, 600), 413);
  EXPECT_EQ(status_of(second, 300), 200);
  EXPECT_EQ(status_of(second, 300), 503);
  EXPECT_EQ(status_of(second, 1e300), 413);
  EXPECT_EQ(budget.reserved(), 900);
  first.reset();
  EXPECT_EQ(budget.reserved(), 300);
  EXPECT_EQ(status_of(second, 300), 200);
}

TEST(MemoryBudget, IsAShareOfTheMachineByDefault) { EXPECT_GT(MemoryBudget(0).bytes(), 32 << 20); }

TEST(MemoryBudget, ManySmallValuesNeedMoreThanOneText) {
  std::string values = "[";
  for (int i = 0; i < 1000; ++i) values += "[],";
  EXPECT_GT(serve::parsed_bytes(values), 50 * serve::parsed_bytes(std::string(values.size(), 'a')) / 4);
}

TEST(MemoryBudget, CommasInATextAreNotMoreValuesThanABodyMayHave) {
  const std::string commas(10 << 20, ',');
  EXPECT_LT(serve::parsed_bytes(commas), 6.0 * static_cast<double>(commas.size()));
}

ServerOptions small_memory() {
  ServerOptions options = all_models();
  options.memory = 16 << 20;
  return options;
}

std::string reserved(const Serving& server) {
  const std::string metrics = server.get("/metrics").body, name = "\nattend_reserved_bytes ";
  const std::size_t at = metrics.find(name) + name.size();
  return metrics.substr(at, metrics.find('\n', at) - at);
}

TEST(Memory, ARequestThatCanNeverFitIsRefusedBeforeTheWork) {
  const Serving server(small_memory());
  const std::string large(1 << 20, 'a');
  const auto tokens = server.post("/v1/tokenize", {{"model", "gpt2"}, {"input", large}});
  EXPECT_EQ(tokens.status, 413);
  EXPECT_EQ(tokens.json["error"]["code"], "too_large_for_memory");
  std::string empty = "{\"model\":\"gpt2\",\"prompt\":[[]";
  for (int i = 0; i < 100000; ++i) empty += ",[]";
  EXPECT_EQ(server.post_text("/v1/completions", empty + "]}").status, 413);
  EXPECT_EQ(server.post("/translate", {{"q", large}, {"source", "it"}, {"target", "en"}}).json["code"],
            "too_large_for_memory");
  const Json prompts{{"model", "sentences"}, {"input", std::vector<std::string>(200, "a")}};
  for (const char* prompt : {"prompt", "user"}) {  // only the first is put before each text
    Json body = prompts;
    body[prompt] = std::string(1000, 'a');
    EXPECT_EQ(server.post("/v1/embeddings", body).status, body.contains("prompt") ? 413 : 200);
  }
  EXPECT_EQ(server
                .post("/translate", {{"q", std::vector<std::string>(20, "a")},
                                     {"source", "it"},
                                     {"target", "en"},
                                     {"prefix", std::string(10000, 'a')}})
                .status,
            413);
  const std::string masks = [] {
    std::string text;
    for (int i = 0; i < 30; ++i) text += "[MASK] ";
    return text;
  }();
  EXPECT_EQ(
      server.post("/v1/fill-mask", {{"model", "words"}, {"input", std::vector<std::string>(60, masks)}, {"top", 1000}})
          .status,
      413);
  EXPECT_EQ(server.post("/v1/tokenize", {{"model", "gpt2"}, {"input", "abc"}}).status, 200);
  EXPECT_EQ(reserved(server), "0");
}

TEST(Memory, TooManyPromptsAreCountedBeforeTheyAreRead) {
  std::vector<std::string> prompts(129, "a");
  const auto answer = serving().post("/v1/completions", {{"model", "gpt2"}, {"prompt", prompts}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("expected at most 128"), std::string::npos) << answer.body;
}

TEST(Memory, ALargeAnswerIsSentInPartsAndIsWhole) {
  const auto positions = serving().get("/v1/lessons/positions?width=1024&length=300");
  EXPECT_EQ(positions.headers.count("Content-Length"), 0u);
  ASSERT_EQ(positions.json["values"].size(), 300u);
  EXPECT_EQ(positions.json["values"][299].size(), 1024u);
  EXPECT_NEAR(positions.json["values"][299][0].get<double>(), std::sin(299.0), 1e-4);
  std::string text;
  for (int i = 0; i < 60000; ++i) text += "a b ";
  const auto tokens = serving().post("/v1/tokenize", {{"model", "gpt2"}, {"input", {text, ""}}});
  EXPECT_EQ(tokens.headers.count("Content-Length"), 0u);
  EXPECT_EQ(tokens.json["data"][0]["ids"].size(), tokens.json["data"][0]["tokens"].size());
  EXPECT_GT(tokens.json["data"][0]["ids"].size(), 60000u);
  EXPECT_TRUE(tokens.json["data"][1]["ids"].empty());
}

}  // namespace
}  // namespace attend::test
