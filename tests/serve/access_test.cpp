// Who may use the server: hosts, origins and keys, without sockets.
#include "attend/serve/access.h"

#include <gtest/gtest.h>

#include "attend/serve/api.h"
#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

bool host_passes(const std::string& host, const std::string& listening = "127.0.0.1",
                 const std::vector<std::string>& more = {}) {
  try {
    check_host({.hosts = host_names(listening, more)}, {.host = host});
    return true;
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 403);
    EXPECT_NE(std::string(error.what()).find("--allowed-host"), std::string::npos);
    return false;
  }
}

TEST(Access, AnswersOnlyUnderItsOwnNames) {
  for (const char* own : {"localhost", "LocalHost:8080", "localhost.", "127.0.0.1", "127.0.0.1:9000", "[::1]:8080",
                          "[::1]", "192.168.1.7:8080", ""})
    EXPECT_TRUE(host_passes(own)) << own;
  for (const char* other : {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
                            "127.0.0.1evil", "[::1", "::1", "1.2.3", "localhost@evil.example"})
    EXPECT_FALSE(host_passes(other)) << other;
  EXPECT_TRUE(host_passes("Translate.example:443", "0.0.0.0", {"translate.EXAMPLE"}));
  EXPECT_FALSE(host_passes("other.example", "0.0.0.0", {"translate.example"}));
  EXPECT_TRUE(host_passes("other.example", "0.0.0.0", {"*"}));
  std::array<char, 256> own{};
  ASSERT_EQ(::gethostname(own.data(), own.size() - 1), 0);
  if (std::string(own.data()) != "localhost") {
    EXPECT_TRUE(host_passes(own.data(), "0.0.0.0"));
    EXPECT_FALSE(host_passes(own.data(), "127.0.0.1"));
  }
}

bool origin_passes(const std::string& origin, const std::string& host, const std::vector<std::string>& allowed = {}) {
  try {
    check_origin({.origins = allowed}, {.host = host, .origin = origin});
    return true;
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 403);
    return false;
  }
}

TEST(Access, RefusesPagesOfOtherOrigins) {
  EXPECT_TRUE(origin_passes("", "localhost:8080"));
  EXPECT_TRUE(origin_passes("http://localhost:8080", "LOCALHOST:8080"));
  EXPECT_TRUE(origin_passes("https://a.example", "a.example"));
  EXPECT_TRUE(origin_passes("https://a.example", "a.example:443"));
  EXPECT_TRUE(origin_passes("http://a.example:80", "a.example"));
  for (const char* other :
       {"null", "http://localhost", "http://localhost:3000", "http://evil.example", "http://localhost:80801",
        "https://localhost:443", "file://", "http://localhost:8080.evil.example", "localhost:8080"})
    EXPECT_FALSE(origin_passes(other, "localhost:8080")) << other;
  EXPECT_FALSE(origin_passes("http://", ""));
  EXPECT_TRUE(origin_passes("https://App.example", "localhost:8080", {"https://app.example"}));
  EXPECT_FALSE(origin_passes("http://app.example", "localhost:8080", {"https://app.example"}));
  EXPECT_TRUE(origin_passes("null", "localhost:8080", {"*"}));
}

TEST(Access, ReadsKeysInAnyCaseOfTheScheme) {
  for (const char* header : {"Bearer secret", "bearer secret", "BEARER  secret"})
    EXPECT_EQ(bearer_key({.authorization = header}), "secret") << header;
  for (const char* header : {"", "Bearer", "Bearer ", "secret", "Basic secret", "Bearersecret"})
    EXPECT_EQ(bearer_key({.authorization = header}), "") << header;
}

std::string header_of(const Reply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers)
    if (key == name) return value;
  return "";
}

TEST(Access, AnAllowedOriginGetsCorsHeadersAndAnAnswerToItsPreflight) {
  Api api({.access = {.keys = {"secret"}, .origins = {"https://app.example"}}}, {});
  Call preflight{.method = "OPTIONS", .path = "/v1/completions", .host = "localhost", .origin = "https://app.example"};
  preflight.requested_method = "POST", preflight.requested_headers = "authorization,content-type,x-stainless-lang";
  const Reply allowed = api.answer(preflight);
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Origin"), "https://app.example");
  EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Headers"), preflight.requested_headers);
  EXPECT_EQ(header_of(allowed, "Vary"), "Origin");
  preflight.origin = "https://evil.example";
  EXPECT_EQ(api.answer(preflight).status, 403);
  EXPECT_EQ(header_of(api.answer(preflight), "Access-Control-Allow-Origin"), "");
  const Call get{.path = "/v1/models", .host = "localhost", .origin = "https://app.example"};
  EXPECT_EQ(api.answer(get).status, 401);  // errors can be read by the page, too
  EXPECT_EQ(header_of(api.answer(get), "Access-Control-Allow-Origin"), "https://app.example");
}

TEST(Access, RefusesBeforeTheBodyIsRead) {
  Api api({.access = {.keys = {"secret"}}}, {});
  const auto status = [&](const Call& head) {
    const auto refused = api.refusal(head);
    return refused ? refused->status : 0;
  };
  const Call good{.method = "POST",
                  .path = "/v1/completions",
                  .content_type = "application/json",
                  .authorization = "Bearer secret",
                  .host = "localhost"};
  EXPECT_EQ(status(good), 0);
  Call bad = good;
  bad.authorization = "Bearer other";
  EXPECT_EQ(status(bad), 401);
  bad = good, bad.content_type = "text/plain";
  EXPECT_EQ(status(bad), 415);
  bad = good, bad.path = "/v2";
  EXPECT_EQ(status(bad), 404);
  bad = good, bad.method = "PUT";
  EXPECT_EQ(status(bad), 405);
  bad = good, bad.host = "evil.example";
  EXPECT_EQ(status(bad), 403);
  bad = good, bad.origin = "http://evil.example";
  EXPECT_EQ(status(bad), 403);
  bad = good, bad.authorization = "", bad.path = "/translate";  // its key may be in the body
  EXPECT_EQ(status(bad), 0);
  bad.body = R"({"q": "{\"api_key\": \"secret\"}", "x": {"api_key": "secret"}})";
  EXPECT_EQ(api.answer(bad).status, 401);
  bad.body = R"({"q": "a\"b", "x": [1, {}], "api_key" : "s\u0065cret"})";
  EXPECT_NE(api.answer(bad).status, 401);
  bad.content_type = "application/x-www-form-urlencoded", bad.body = "q=x&api_key=s%65cret";
  EXPECT_NE(api.answer(bad).status, 401);
  bad.body = "q=x&api_key=other";
  EXPECT_EQ(api.answer(bad).status, 401);
}

TEST(Access, AWrongTypeIsRefusedInTheShapeOfTheApi) {
  Api api({}, {});
  Call call{.method = "POST", .path = "/v1/completions", .body = R"({"model": "x"})", .host = "localhost"};
  call.content_type = "application/x-www-form-urlencoded";  // as curl -d says
  Reply reply = api.answer(call);
  EXPECT_EQ(reply.status, 415);
  EXPECT_NE(reply.body.find("-H 'Content-Type: application/json'"), std::string::npos);
  EXPECT_NE(reply.body.find("\"type\":"), std::string::npos);
  call.path = "/translate";
  reply = api.answer(call);
  EXPECT_EQ(reply.status, 415);
  EXPECT_NE(reply.body.find("-H 'Content-Type: application/json'"), std::string::npos);
  EXPECT_EQ(reply.body.find("\"type\":"), std::string::npos);
}

}  // namespace
}  // namespace attend::serve
