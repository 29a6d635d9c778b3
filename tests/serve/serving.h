// A server in this process, with small models, and requests to it: for the tests in tests/serve/. Every answer that a
// test gets is held against attend/serve/openapi.json.
#pragma once
#include <gtest/gtest.h>
#include <httplib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "attend/serve/server.h"
#include "tests/serve/schema.h"

namespace attend::test {

inline std::filesystem::path fixture(const std::string& path) {
  return std::filesystem::path(ATTEND_SOURCE_DIR) / "tests" / path;
}

inline const std::filesystem::path kGpt2 = fixture("models/fixtures/gpt2_tokenizer");
inline const std::filesystem::path kMarian = fixture("models/fixtures/marian_tokenizer");
inline const std::filesystem::path kSentences = fixture("tasks/fixtures/sentence_mean");
inline const std::filesystem::path kWords = fixture("tasks/fixtures/bert_words");
inline const std::filesystem::path kLabels = fixture("tasks/fixtures/bert_labels");
inline const std::filesystem::path kSeveralLabels = fixture("tasks/fixtures/bert_several_labels");

/// All kinds of models.
inline ServerOptions all_models() {
  ServerOptions options;
  options.models = {{"gpt2", kGpt2},   {"it-en", kMarian},  {"sentences", kSentences},
                    {"words", kWords}, {"labels", kLabels}, {"several", kSeveralLabels}};
  options.port = 0;
  options.connections = 64;
  return options;
}

/// Runs until the test ends.
class Serving {
 public:
  explicit Serving(const ServerOptions& options = all_models()) : server_(options), thread_([this] { server_.run(); }) {
    for (int i = 0; i < 200 && !client().Get("/health"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ~Serving() {
    server_.stop();
    thread_.join();
  }
  Server& server() { return server_; }
  int port() const { return server_.port(); }
  httplib::Client client() const {
    httplib::Client client("127.0.0.1", server_.port());
    client.set_read_timeout(60);
    return client;
  }

  struct Answer {
    int status = 0;
    Json json;
    std::string body;
    httplib::Headers headers;
  };
  Answer get(const std::string& path, const httplib::Headers& headers = {}) const {
    return answer_of(client().Get(path, headers), "get", path, "");
  }
  Answer post(const std::string& path, const Json& body, const httplib::Headers& headers = {}) const {
    return post_text(path, body.dump(), headers);
  }
  Answer post_text(const std::string& path, const std::string& body, const httplib::Headers& headers = {},
                   const char* type = "application/json") const {
    return answer_of(client().Post(path, headers, body, type), "post", path, body);
  }
  /// The events of a stream, without "data: ".
  std::vector<std::string> stream(const std::string& path, const Json& body) const {
    const std::string text = post(path, body).body;
    std::vector<std::string> events;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find("\n\n", at);
      EXPECT_NE(end, std::string::npos) << text;
      if (end == std::string::npos) break;
      EXPECT_EQ(text.compare(at, 6, "data: "), 0) << text;
      events.push_back(text.substr(at + 6, end - at - 6));
      at = end + 2;
    }
    return events;
  }

 private:
  static Answer answer_of(const httplib::Result& result, const std::string& method, const std::string& path,
                          const std::string& request) {
    if (!result) {
      ADD_FAILURE() << "no answer: " << httplib::to_string(result.error());
      return {};
    }
    expect_as_described(method, path, request, result->status, result->get_header_value("Content-Type"), result->body);
    return {result->status, Json::parse(result->body, nullptr, false), result->body, result->headers};
  }

  Server server_;
  std::thread thread_;
};

/// One for all tests that change nothing.
inline Serving& serving() {
  static Serving one;
  return one;
}

}  // namespace attend::test
