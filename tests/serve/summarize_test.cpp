// POST /v1/summarize gives what the Summarizer gives, whatever else the server does.
#include "attend/tasks/summarization/summarizer.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "attend/text/character_positions.h"
#include "tests/serve/raw.h"
#include "tests/serve/serving.h"

namespace attend::test {
namespace {

const std::filesystem::path kT5 = fixture("models/fixtures/t5_tokenizer");
const std::vector<std::string> kDocuments{
    "Tò be or not to be. That is the question! Once upon a time there was a king.\nHe had no hair at all.",
    "Who said it? Nobody wrote it down.", " \n"};

const Summarizer& summarizer() {
  static const Summarizer one(kT5);
  return one;
}

const Serving& summaries() {
  static const Serving one([] {
    ServerOptions options;
    options.models = {{"t5", kT5}, {"it-en", kMarian}, {"words", kWords}};
    options.port = 0;
    return options;
  }());
  return one;
}

std::string long_document(int times) {
  std::string document;
  for (int i = 0; i < times; ++i) document += kDocuments[static_cast<std::size_t>(i % 2)] + " ";
  return document;
}

void expect_summary(const Json& found, const Summary& expected, const std::string& document) {
  EXPECT_EQ(found["summary"], expected.text);
  EXPECT_EQ(found["ids"], Json(expected.ids));
  EXPECT_NEAR(found["score"].get<double>(), expected.score, 1e-5);
  EXPECT_EQ(found["parts"], expected.parts);
  EXPECT_EQ(found.contains("finish"), !expected.finished);
  EXPECT_EQ(found.value("truncated", 0), expected.truncated);
  ASSERT_EQ(found.value("sentences", Json::array()).size(), expected.sentences.size());
  const CharacterPositions characters(document);
  for (std::size_t i = 0; i < expected.sentences.size(); ++i) {
    const Json& one = found["sentences"][i];
    EXPECT_EQ(one["start"], characters(expected.sentences[i].span).begin);
    EXPECT_EQ(one["end"], characters(expected.sentences[i].span).end);
    EXPECT_NEAR(one["weight"].get<float>(), expected.sentences[i].weight, 1e-4);
  }
}

TEST(Summarize, GivesWhatTheLibraryGives) {
  const Json body{{"model", "t5"}, {"input", kDocuments}, {"max_tokens", 7},      {"min_tokens", 3},
                  {"beam", 2},     {"length_penalty", 2}, {"no_repeat_ngram", 2}, {"sentences", true}};
  const auto answer = summaries().post("/v1/summarize", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const std::vector<Summary> expected = summarizer()(
      kDocuments,
      {.search = {.beam = 2, .length_penalty = 2, .max_new_tokens = 7, .min_new_tokens = 3, .no_repeat_ngram = 2},
       .sources = true});
  ASSERT_EQ(answer.json["data"].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(answer.json["data"][i]["index"], i);
    expect_summary(answer.json["data"][i], expected[i], kDocuments[i]);
  }
  EXPECT_EQ(answer.json["data"][2]["parts"], 0) << "blank";
}

TEST(Summarize, TakesOneTextAndTheOptionsOfSummaries) {
  const Json body{{"model", "t5"}, {"input", kDocuments[1]}, {"max_tokens", 4}, {"source_prefix", "a king: "}};
  const auto answer = summaries().post("/v1/summarize", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  ASSERT_EQ(answer.json["data"].size(), 1u);
  expect_summary(answer.json["data"][0],
                 summarizer()(kDocuments[1], {.search = {.max_new_tokens = 4}, .source_prefix = "a king: "}),
                 kDocuments[1]);
  EXPECT_FALSE(answer.json["data"][0].contains("sentences"));
}

TEST(Summarize, TellsTheSeedOfASample) {
  const Json body{{"model", "t5"},
                  {"input", {"", long_document(4)}},
                  {"temperature", 3},
                  {"max_tokens", 5},
                  {"max_source_tokens", 40}};
  const auto first = summaries().post("/v1/summarize", body), second = summaries().post("/v1/summarize", body);
  ASSERT_EQ(first.status, 200) << first.body;
  ASSERT_GT(first.json["data"][1]["parts"], 1);
  EXPECT_NE(first.json["seed"], second.json["seed"]);
  Json again = body;
  again["seed"] = first.json["seed"];
  EXPECT_EQ(summaries().post("/v1/summarize", again).json, first.json) << "all passes have the same seed";
  again["temperature"] = 0;
  EXPECT_FALSE(summaries().post("/v1/summarize", again).json.contains("seed")) << "nothing is random";
}

TEST(Summarize, LongDocumentsAreSummarizedInPartsCutOrRefused) {
  const std::string document = long_document(12);
  Json body{{"model", "t5"},
            {"input", {"To be.", document}},
            {"max_tokens", 5},
            {"max_source_tokens", 40},
            {"sentences", true}};
  SummarizeOptions options{.search = {.max_new_tokens = 5}, .max_source_tokens = 40, .sources = true};
  const auto split = summaries().post("/v1/summarize", body);
  ASSERT_EQ(split.status, 200) << split.body;
  const Summary expected = summarizer()(document, options);
  EXPECT_GT(expected.parts, 5);
  expect_summary(split.json["data"][1], expected, document);
  body["long"] = "truncate", options.long_text = LongText::truncate;
  const auto cut = summaries().post("/v1/summarize", body);
  expect_summary(cut.json["data"][1], summarizer()(document, options), document);
  EXPECT_GT(cut.json["data"][1]["truncated"], 0);
  body["long"] = "error";
  const auto refused = summaries().post("/v1/summarize", body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.json["error"]["code"], "input_too_long");
  EXPECT_NE(refused.body.find("input 1: "), std::string::npos) << refused.body;
}

TEST(Summarize, OfManyClientsAreTheSameAsAlone) {
  std::atomic<int> wrong = 0;
  const std::string document = long_document(4);
  const SummarizeOptions options{.search = {.max_new_tokens = 5}, .max_source_tokens = 40};
  const std::string whole = summarizer()(document, options).text;
  std::vector<std::string> expected;
  for (const std::string& one : kDocuments) expected.push_back(summarizer()(one, options).text);
  std::vector<std::thread> clients;
  for (int c = 0; c < 6; ++c)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 4; ++i) {
        const std::size_t which = static_cast<std::size_t>(c + i) % 3;
        const auto answer = summaries().post(
            "/v1/summarize",
            {{"model", "t5"}, {"input", {kDocuments[which], document}}, {"max_tokens", 5}, {"max_source_tokens", 40}});
        wrong += answer.status != 200 || answer.json["data"][0]["summary"] != expected[which] ||
                 answer.json["data"][1]["summary"] != whole;
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Summarize, IsSomethingThatEncoderDecodersCanDo) {
  const Json models = summaries().get("/v1/models").json;
  for (const Json& model : models["data"]) {
    const Json& all = model["capabilities"];
    EXPECT_EQ(std::find(all.begin(), all.end(), "summarize") != all.end(), model["id"] != "words") << model;
  }
  EXPECT_EQ(summaries().post("/v1/summarize", {{"model", "words"}, {"input", "x"}}).json["error"]["code"],
            "wrong_model_kind");
}

TEST(Summarize, WhatCannotBeReadIsAnErrorThatNamesTheField) {
  const auto field = [](Json more) {
    Json body{{"model", "t5"}, {"input", "To be."}};
    body.update(more);
    const auto answer = summaries().post("/v1/summarize", body);
    EXPECT_EQ(answer.status, 400) << body;
    const Json& param = answer.json["error"]["param"];
    return param.is_string() ? param.get<std::string>() : "";
  };
  EXPECT_EQ(field({{"input", 3}}), "input");
  EXPECT_EQ(field({{"input", Json::array()}}), "input");
  EXPECT_EQ(field({{"n", 2}}), "n") << "there is one summary of each document";
  EXPECT_EQ(field({{"prefix", "x"}}), "prefix");
  EXPECT_EQ(field({{"max_tokens", 0}}), "max_tokens");
  EXPECT_EQ(field({{"max_source_tokens", 0}}), "max_source_tokens");
  EXPECT_EQ(field({{"sentences", "all"}}), "sentences");
  EXPECT_EQ(field({{"long", "slide"}}), "long");
  const auto no_room = summaries().post(
      "/v1/summarize", {{"model", "t5"}, {"input", "x"}, {"source_prefix", kDocuments[0]}, {"max_source_tokens", 9}});
  EXPECT_EQ(no_room.status, 400);
  EXPECT_NE(no_room.body.find("no room"), std::string::npos) << no_room.body;
}

TEST(Summarize, RequestsThatNeedTooMuchMemoryAreRefusedBeforeTheWork) {
  ServerOptions options;
  options.models = {{"t5", kT5}};
  options.port = 0, options.memory = 16 << 20;
  const Serving server(options);
  const auto code = [&](Json more) {
    Json body{{"model", "t5"}, {"input", long_document(200)}, {"max_source_tokens", 40}};
    body.update(more);
    const auto answer = server.post("/v1/summarize", body);
    return answer.status == 200 ? "" : answer.json["error"]["code"].get<std::string>();
  };
  EXPECT_EQ(code({{"max_tokens", 2}}), "");
  EXPECT_EQ(code({{"input", std::string(1 << 20, 'a')}}), "too_large_for_memory");
  // Each of these makes the parts, or what is kept of them, larger than the text.
  EXPECT_EQ(code({{"source_prefix", std::string(4000, 'a')}, {"max_source_tokens", 2010}}), "too_large_for_memory");
  EXPECT_EQ(code({{"max_tokens", 1000}, {"sentences", true}}), "too_large_for_memory");
  EXPECT_NE(server.get("/metrics").body.find("attend_reserved_bytes 0\n"), std::string::npos);
}

TEST(Summarize, ALongDocumentBlocksNobodyAndEndsWithItsClient) {
  ServerOptions options;
  options.models = {{"t5", kT5}};
  options.port = 0;
  const Serving server(options);
  const auto becomes = [&](const std::string& line) {
    for (int i = 0; i < 2000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(5)))
      if (server.get("/metrics").body.find("\n" + line + "\n") != std::string::npos) return true;
    return false;
  };
  const std::string body = Json{{"model", "t5"},           {"input", long_document(4000)},
                                {"max_source_tokens", 40}, {"max_tokens", 30},
                                {"min_tokens", 30},        {"sentences", true}}
                               .dump();
  Raw raw(server.port());
  raw.send("POST /v1/summarize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body);
  ASSERT_TRUE(becomes("attend_waiting_requests{model=\"t5\"} 1")) << "its parts wait for their turns";
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(server.post("/v1/summarize", {{"model", "t5"}, {"input", kDocuments}, {"max_tokens", 5}}).status, 200);
  }
  EXPECT_TRUE(becomes("attend_waiting_requests{model=\"t5\"} 1")) << "the long document was there all the time";
  raw.close();
  EXPECT_TRUE(becomes("attend_waiting_requests{model=\"t5\"} 0"));
  EXPECT_TRUE(becomes("attend_running_texts{model=\"t5\"} 0"));
  EXPECT_TRUE(becomes("attend_reserved_bytes 0"));
}

}  // namespace
}  // namespace attend::test
