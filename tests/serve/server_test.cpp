// The server itself: bad bytes, many clients, keys, limits, hang-ups and its end.

#include <atomic>
#include <chrono>
#include <optional>

#include "attend/tasks/language_model/language_model.h"
#include "tests/serve/raw.h"
#include "tests/serve/serving.h"
#include "tests/support/errors.h"

namespace attend::test {
namespace {

using Clock = std::chrono::steady_clock;

/// A model that can write for a long time.
Json long_text(const char* more = "") {
  return {{"model", "gpt2"},      {"prompt", std::string("The") + more},
          {"max_tokens", 100000}, {"ignore_eos", true},
          {"long", "slide"},      {"temperature", 1.5}};
}
ServerOptions one_model() {
  ServerOptions options;
  options.models = {{"gpt2", kGpt2}};
  options.port = 0;
  options.connections = 32;
  options.batch_tokens = 1 << 20;
  return options;
}

TEST(Server, SaysThatItIsThereAndCounts) {
  EXPECT_EQ(serving().get("/health").json["status"], "ok");
  EXPECT_EQ(serving().get("/ready").json["status"], "ready");
  serving().post("/v1/completions", {{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 3}});
  const std::string metrics = serving().get("/metrics").body;
  EXPECT_NE(metrics.find("attend_requests_total{path=\"/v1/completions\",status=\"200\"}"), std::string::npos);
  EXPECT_NE(metrics.find("attend_generated_tokens_total{model=\"gpt2\"}"), std::string::npos);
  EXPECT_EQ(serving().get("/").status, 200);
  EXPECT_NE(serving().get("/").body.find("<html"), std::string::npos);
  EXPECT_EQ(serving().get("/openapi.json").json["openapi"], "3.1.0");
}

TEST(Server, KnowsItsPathsAndMethods) {
  EXPECT_EQ(serving().get("/nothing").json["error"]["code"], "not_found");
  const auto wrong = serving().get("/v1/completions");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.json["error"]["code"], "method_not_allowed");
  EXPECT_EQ(wrong.headers.find("Allow")->second, "POST");
  EXPECT_EQ(serving().post("/v1/models", Json::object()).status, 405);
  EXPECT_EQ(serving().client().Delete("/v1/completions")->status, 405);
}

TEST(Server, RefusesWhatIsNoJson) {
  const auto code = [](const std::string& body) {
    const auto answer = serving().post_text("/v1/completions", body);
    EXPECT_EQ(answer.status, 400) << body;
    return answer.json["error"]["code"].get<std::string>();
  };
  EXPECT_EQ(code(""), "invalid_json");
  EXPECT_EQ(code("{"), "invalid_json");
  EXPECT_EQ(code("[]"), "invalid_json");
  EXPECT_EQ(code("{\"prompt\": \"\xff\"}"), "invalid_utf8");
  EXPECT_EQ(code("{\"prompt\": \"\\ud800\"}"), "invalid_json");
  EXPECT_EQ(code("{\"n\": 1e999}"), "invalid_json");
  EXPECT_EQ(code("{\"a\": " + std::string(100000, '[')), "invalid_json");
  EXPECT_EQ(code(std::string(100000, '{')), "invalid_json");
}

TEST(Server, SurvivesBadBytes) {
  ServerOptions options = one_model();
  options.body_limit = 1000;
  const Serving server(options);
  const auto answered = [&](const std::string& text) {
    const Raw raw(server.port());
    raw.send(text);
    return status_of(raw.receive());
  };
  EXPECT_EQ(answered("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n"),
            "HTTP/1.1 413 Payload Too Large");
  EXPECT_EQ(answered("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n"),
            "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(answered("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"),
            "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(
      answered("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
      "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(answered("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 411 Length Required");
  EXPECT_EQ(answered(request("/v1/completions", "x", "Content-Encoding: gzip\r\n")).substr(0, 12), "HTTP/1.1 415");
  EXPECT_EQ(answered("GARBAGE\r\n\r\n").substr(0, 12), "HTTP/1.1 400");
  EXPECT_EQ(answered("GET /" + std::string(5000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n").substr(0, 12),
            "HTTP/1.1 414");
  std::string head = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 30000; ++i) head += "a:b\r\n";
  EXPECT_EQ(answered(head + "\r\n").substr(0, 10), "HTTP/1.1 4");
  std::string ranges = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nRange: bytes=0-0";
  for (int i = 0; i < 1990; ++i) ranges += ",0-0";
  EXPECT_EQ(answered(ranges + "\r\n\r\n").substr(0, 9), "HTTP/1.1 ");
  const std::string chunk = "400\r\n" + std::string(0x400, 'x') + "\r\n";
  std::string chunks =
      "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n";
  for (int i = 0; i < 200; ++i) chunks += chunk;
  const std::string too_many = answered(chunks).substr(0, 10);
  EXPECT_EQ(too_many, "HTTP/1.1 4");
  {
    const Raw raw(server.port());  // a body that never comes
    raw.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"model\":");
  }
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_EQ(server.post_text("/v1/completions", std::string(1001, ' ')).json["error"]["code"], "body_too_large");
}

TEST(Server, AsksForAKey) {
  ServerOptions options = one_model();
  options.models.push_back({"it-en", kMarian});
  options.api_keys = {"secret", "another"};
  const Serving server(options);
  const Json body{{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 2}};
  EXPECT_EQ(server.post("/v1/completions", body, {{"Authorization", "bearer secret"}}).status, 200);
  for (const char* key : {"", "Bearer ", "Bearer secre", "Bearer secret2", "secret", "Basic secret"}) {
    const auto answer = server.post("/v1/completions", body, {{"Authorization", key}});
    EXPECT_EQ(answer.status, 401) << key;
    EXPECT_EQ(answer.json["error"]["code"], "unauthorized");
  }
  EXPECT_EQ(server.post("/v1/completions", body, {{"Authorization", "Bearer secret"}}).status, 200);
  EXPECT_EQ(server.post("/v1/completions", body, {{"Authorization", "Bearer another"}}).status, 200);
  EXPECT_EQ(server.get("/v1/models").status, 401);
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_EQ(server.get("/").status, 200);
  Json translate{{"q", "essere"}, {"source", "it"}, {"target", "en"}};
  EXPECT_EQ(server.post("/translate", translate).json["code"], "unauthorized");
  EXPECT_EQ(server.post_text("/translate", "{\"q\":" + std::string(1 << 20, '[')).json["code"], "unauthorized");
  translate["api_key"] = "secret";
  EXPECT_EQ(server.post("/translate", translate).status, 200);
}

TEST(Server, TextsOfManyClientsAreTheSameAsAlone) {
  const LanguageModel model(kGpt2);
  const Serving server(one_model());
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0;
  for (int c = 0; c < 16; ++c)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 6; ++i) {
        const std::string prompt = std::string("The ").append(static_cast<std::size_t>((c * 7 + i * 3) % 9), 'a');
        const bool sample = (c + i) % 2 != 0;
        Json body{{"model", "gpt2"}, {"prompt", prompt}, {"max_tokens", 4 + (c + i) % 8}};
        GenerateOptions options{{.max_new_tokens = 4 + (c + i) % 8}};
        GenerationOptions& search = options.search;
        if (sample) {
          body["temperature"] = 1.5, body["seed"] = c, body["n"] = 1 + i % 3;
          search.temperature = 1.5, search.seed = static_cast<std::uint64_t>(c), search.nbest = 1 + i % 3;
        }
        const auto answer = server.post("/v1/completions", body);
        const auto expected = model.generate(std::vector{prompt}, options)[0];
        for (std::size_t s = 0; s < expected.size(); ++s)
          if (answer.status != 200 || answer.json["choices"][s]["text"] != expected[s].text) ++wrong;
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

/// Running texts, as the server counts them.
std::string metric(const Serving& server, const std::string& name) {
  const std::string text = server.get("/metrics").body;
  const std::size_t at = text.find("\n" + name);
  return at == std::string::npos
             ? ""
             : text.substr(text.find(' ', at) + 1, text.find('\n', at + 1) - text.find(' ', at) - 1);
}
bool becomes(const Serving& server, const std::string& name, const std::string& value) {
  for (const auto end = Clock::now() + std::chrono::seconds(20); Clock::now() < end;) {
    if (metric(server, name) == value) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(Server, WhoHangsUpFreesItsPlace) {
  const Serving server(one_model());
  const std::string running = "attend_running_texts{model=\"gpt2\"}";
  for (const bool stream : {false, true}) {
    Json body = long_text();
    body["stream"] = stream;
    Raw raw(server.port());
    raw.send(request("/v1/completions", body.dump()));
    EXPECT_TRUE(becomes(server, running, "1")) << stream;
    if (stream) raw.receive_some();
    raw.close();
    EXPECT_TRUE(becomes(server, running, "0")) << stream;
  }
}

TEST(Server, WhoOnlyStopsSendingGetsItsAnswer) {
  const Serving server(one_model());
  for (const bool stream : {false, true}) {
    Json body = long_text();
    body["max_tokens"] = 3000, body["stream"] = stream;  // long enough to be looked after while it runs
    const Raw raw(server.port());
    raw.send(request("/v1/completions", body.dump(), "Connection: close\r\n"));
    raw.shut_down();
    std::string answer = raw.receive(20000);
    const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
    if (answer.starts_with(interim)) answer.erase(0, interim.size());
    EXPECT_EQ(status_of(answer), "HTTP/1.1 200 OK") << stream;
    EXPECT_NE(answer.find(stream ? "data: [DONE]" : "finish_reason"), std::string::npos) << stream;
  }
}

TEST(Server, WebPagesOfOthersCannotUseIt) {
  const Json body{{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 2}};
  const std::string own = "localhost:" + std::to_string(serving().port());
  EXPECT_EQ(serving().post("/v1/completions", body, {{"Host", "evil.example"}}).status, 403);
  EXPECT_EQ(serving().post("/v1/completions", body, {{"Origin", "http://evil.example"}}).status, 403);
  EXPECT_EQ(serving().post("/v1/completions", body, {{"Host", own}, {"Origin", "http://" + own}}).status, 200);
  const auto typeless = serving().post_text("/v1/completions", body.dump(), {}, "text/plain");
  EXPECT_EQ(typeless.status, 415);
  EXPECT_NE(typeless.body.find("-H 'Content-Type: application/json'"), std::string::npos);
  const auto form =
      serving().post_text("/v1/completions", std::string(10000, 'x'), {}, "application/x-www-form-urlencoded");
  EXPECT_EQ(form.status, 415);
  EXPECT_EQ(form.json["error"]["code"], "invalid_value");
}

TEST(Server, IsHealthyWhenAllItsConnectionsWork) {
  ServerOptions options = one_model();
  options.connections = 2;
  const Serving server(options);
  const Raw first(server.port());
  first.send(request("/v1/completions", long_text().dump()));
  ASSERT_TRUE(becomes(server, "attend_running_texts{model=\"gpt2\"}", "1"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until the connection of the question above is closed
  const Raw second(server.port());
  second.send(request("/v1/completions", long_text().dump()));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(server.get("/health").status, 200);
  const auto third = server.get("/v1/models");
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.json["error"]["code"], "server_full");
}

TEST(Server, EndsSoonWhenAClientDoesNotReadItsStream) {
  ServerOptions options = one_model();
  std::optional<Serving> server(std::in_place, options);
  Json body = long_text();
  body["stream"] = true, body["logprobs"] = 5;
  const Raw deaf(server->port());
  deaf.send(request("/v1/completions", body.dump()));
  ASSERT_TRUE(becomes(*server, "attend_running_texts{model=\"gpt2\"}", "1"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto begin = Clock::now();
  server.reset();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
}

TEST(Server, AFullQueueSaysWhenToComeAgain) {
  ServerOptions options = one_model();
  options.batch_rows = 1, options.queue = 1;
  const Serving server(options);
  Json body = long_text();
  body["stream"] = true;
  const Raw first(server.port()), second(server.port());
  first.send(request("/v1/completions", body.dump()));
  ASSERT_TRUE(becomes(server, "attend_running_texts{model=\"gpt2\"}", "1"));
  second.send(request("/v1/completions", body.dump()));
  ASSERT_TRUE(becomes(server, "attend_waiting_requests{model=\"gpt2\"}", "1"));
  const auto third = server.post("/v1/completions", body);
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(third.json["error"]["code"], "queue_full");
  EXPECT_EQ(third.headers.count("Retry-After"), 1u);
}

TEST(Server, ATokenBudgetBoundsTheBatch) {
  ServerOptions options = one_model();
  options.batch_tokens = 40;
  const Serving server(options);
  const auto refused =
      server.post("/v1/completions", {{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 20}, {"n", 3}});
  EXPECT_EQ(refused.json["error"]["code"], "input_too_long");
  std::vector<std::thread> clients;
  std::atomic<int> done = 0;
  for (int c = 0; c < 6; ++c)
    clients.emplace_back([&] {
      done += server.post("/v1/completions", {{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 18}}).status == 200;
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(done, 6);
}

TEST(Server, ARequestHasItsTime) {
  ServerOptions options = one_model();
  options.timeout = std::chrono::seconds(1);
  const Serving server(options);
  const auto answer = server.post("/v1/completions", long_text());
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.json["error"]["code"], "timeout");
  Json body = long_text();
  body["stream"] = true;
  const auto events = server.stream("/v1/completions", body);
  EXPECT_EQ(Json::parse(events.back())["error"]["code"], "timeout");
  EXPECT_TRUE(becomes(server, "attend_running_texts{model=\"gpt2\"}", "0"));
}

TEST(Server, FinishesWhatItHasAndRefusesTheRest) {
  ServerOptions options = one_model();
  options.grace = std::chrono::seconds(60);
  Serving server(options);
  Json body = long_text();
  body["max_tokens"] = 2000, body["stream"] = true;
  const Raw raw(server.port());
  raw.send(request("/v1/completions", body.dump(), "Connection: close\r\n"));
  ASSERT_TRUE(becomes(server, "attend_running_texts{model=\"gpt2\"}", "1"));
  std::thread ending([&] { server.server().finish(); });
  while (server.get("/ready").status == 200) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto late = server.post("/v1/completions", {{"model", "gpt2"}, {"prompt", "The"}});
  EXPECT_EQ(late.status, 503);
  EXPECT_EQ(late.json["error"]["code"], "shutting_down");
  const std::string answer = raw.receive(20000);
  EXPECT_NE(answer.find("data: [DONE]"), std::string::npos);
  ending.join();
}

TEST(Server, StopsWithoutWaitingForWhatItHas) {
  std::optional<Serving> server(std::in_place, one_model());
  const Raw raw(server->port());
  raw.send(request("/v1/completions", long_text().dump()));
  ASSERT_TRUE(becomes(*server, "attend_running_texts{model=\"gpt2\"}", "1"));
  server.reset();
  EXPECT_EQ(status_of(raw.receive()), "HTTP/1.1 503 Service Unavailable");
}

TEST(Server, CutsWhatIsNotFinishedInTime) {
  ServerOptions options = one_model();
  options.grace = std::chrono::milliseconds(200);
  Serving server(options);
  const Raw raw(server.port());
  raw.send(request("/v1/completions", long_text().dump(), "Connection: close\r\n"));
  ASSERT_TRUE(becomes(server, "attend_running_texts{model=\"gpt2\"}", "1"));
  const auto begin = Clock::now();
  server.server().finish();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(status_of(raw.receive()), "HTTP/1.1 503 Service Unavailable");
}

TEST(Server, ALargeTranslationBlocksNobodyAndEndsWithItsClient) {
  ServerOptions options = one_model();
  options.models.push_back({"it-en", kMarian});
  const Serving server(options);
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "a. B\n";
  const std::string waiting = "attend_waiting_requests{model=\"it-en\"}";
  Raw raw(server.port());
  raw.send(request("/translate", Json{{"q", text}, {"source", "it"}, {"target", "en"}}.dump()));
  ASSERT_TRUE(becomes(server, waiting, "1"));
  for (int i = 0; i < 5; ++i) {
    const auto begin = Clock::now();
    EXPECT_EQ(server.post("/v1/completions", {{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 2}}).status, 200);
    EXPECT_EQ(server.post("/translate", {{"q", "a"}, {"source", "it"}, {"target", "en"}}).status, 200);
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  }
  raw.close();
  EXPECT_TRUE(becomes(server, waiting, "0"));
  EXPECT_TRUE(becomes(server, "attend_running_texts{model=\"it-en\"}", "0"));
  EXPECT_TRUE(becomes(server, "attend_reserved_bytes", "0"));
}

TEST(Server, LongTextsGiveTheSameAnswersAsShortOnes) {
  std::string text;
  for (int i = 0; i < 6000; ++i) text += "a b\n";
  const Json body{{"model", "sentences"}, {"input", {"a b", text}}, {"long", "truncate"}};
  const auto answer = serving().post("/v1/embeddings", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto alone = serving().post("/v1/embeddings", {{"model", "sentences"}, {"input", "a b"}});
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(answer.json["data"][0]["embedding"][i].get<double>(),
                alone.json["data"][0]["embedding"][i].get<double>(), 1e-5);
  EXPECT_GT(answer.json["data"][1]["truncated"], 1000);
}

TEST(Server, AStopBeforeTheRunEndsIt) {
  Server server(one_model());
  server.stop();
  server.stop();
  server.run();
}

TEST(Server, AnswersAreWhole) {
  const Raw raw(serving().port());
  raw.send("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-9\r\nConnection: close\r\n\r\n");
  const std::string answer = raw.receive();
  EXPECT_EQ(status_of(answer), "HTTP/1.1 200 OK");
  EXPECT_GT(answer.size(), 10000u);
}

TEST(Server, SaysWhyItCannotBegin) {
  ServerOptions options = one_model();
  options.port = serving().port();
  EXPECT_ERROR(Server{options}, "cannot listen at 127.0.0.1");
  options = one_model();
  options.models.push_back(options.models.front());
  EXPECT_ERROR(Server{options}, "two models cannot have one name");
  options.models = {{"x", "/nowhere"}};
  EXPECT_ERROR(Server{options}, "there is no folder /nowhere");
  options.models = {{"x", fixture("text/fixtures/gpt2")}};
  EXPECT_THROW(Server{options}, InputError);
}

}  // namespace
}  // namespace attend::test
