// What a hostile request costs the server: time in proportion to its size, and little of it before a key is known. The
// requests go through the parser and the API in this thread, whose processor time is measured.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstdio>
#include <ctime>

#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/serve/http_message.h"
#include "attend/serve/openapi.h"

namespace attend::serve {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlow = 20;  // sanitizers
#else
constexpr double kSlow = 1;
#endif
constexpr std::size_t kMegabyte = 1 << 20;
constexpr const char* kJson = "application/json";
constexpr const char* kForm = "application/x-www-form-urlencoded";

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Body {
  const char* name;
  std::string (*make)(std::size_t size);
  const char* type = kJson;
  bool chunked = false;
};

std::string repeated(const std::string& begin, const std::string& part, std::size_t size) {
  std::string text = begin;
  while (text.size() < size) text += part;
  return text;
}
std::string many_keys(std::size_t size) {
  std::string text = "{";
  std::array<char, 32> key{};
  for (int i = 0; text.size() < size; ++i) {
    std::snprintf(key.data(), key.size(), "\"%07d\":0,", i);
    text += key.data();
  }
  return text + "\"api_key\":\"wrong\"}";
}
/// Objects with as many keys as are allowed.
std::string objects_of_keys(std::size_t size) {
  std::string object = "{";
  std::array<char, 32> key{};
  for (int i = 0; i < 990; ++i) {
    std::snprintf(key.data(), key.size(), "%s\"%03d\":0", i ? "," : "", i);
    object += key.data();
  }
  return repeated("{\"q\":[0", "," + object + "}", size) + "]}";
}
std::string deep(std::size_t size) { return repeated("{\"q\":", "[", size); }
std::string huge_number(std::size_t size) { return repeated("{\"q\":1", "1", size) + "}"; }
std::string many_values(std::size_t size) { return repeated("{\"q\":[0", ",0", size) + "]}"; }
std::string long_text(std::size_t size) { return repeated("{\"q\":\"", "a", size) + "\",\"api_key\":\"wrong\"}"; }
std::string escapes(std::size_t size) { return repeated("{\"q\":\"", "\\u0061\\\\", size) + "\"}"; }
std::string white(std::size_t size) { return repeated("{", " ", size) + "}"; }
std::string broken_utf8(std::size_t size) { return repeated("{\"q\":\"", "\xff", size) + "\"}"; }
std::string many_form_fields(std::size_t size) { return repeated("q=x", "&a=b", size); }
std::string long_form_field(std::size_t size) { return repeated("q=", "%61+", size) + "&api_key=wrong"; }
std::string empty_form_fields(std::size_t size) { return repeated("", "&", size); }

constexpr Body kBodies[] = {
    {"many keys", many_keys},
    {"objects with 990 keys", objects_of_keys},
    {"deep nesting", deep},
    {"a long number", huge_number},
    {"many values", many_values},
    {"a long text", long_text},
    {"escapes", escapes},
    {"white space", white},
    {"invalid UTF-8", broken_utf8},
    {"form: many fields", many_form_fields, kForm},
    {"form: a long field", long_form_field, kForm},
    {"form: empty fields", empty_form_fields, kForm},
    {"chunks of one byte", long_text, kJson, true},
};
constexpr const char* kPaths[] = {"/v1/completions", "/v1/chat/completions", "/v1/embeddings", "/v1/tokenize",
                                  "/v1/classify",    "/v1/fill-mask",        "/v1/attention",  "/v1/answer",
                                  "/v1/summarize",   "/translate",           "/detect",        "/languages",
                                  "/health"};

std::string chunked(const std::string& body) {
  std::string text;
  for (const char c : body) text.append("1\r\n").append(1, c).append("\r\n");
  return text + "0\r\n\r\n";
}

struct Cost {
  double seconds = 0;
  int status = 0;
};

/// The bytes of a body. The size is that of what is sent.
std::string content_of(const Body& body, std::size_t size) {
  return body.chunked ? chunked(body.make(size / 6)) : body.make(size);
}

/// The least of some runs: of one, if it stays within the limit, since other programs take time but never give any.
Cost cost(Api& api, const std::string& path, const Body& body, const std::string& content, const std::string& key,
          double limit = 0, int most_runs = 10) {
  const std::string text =
      (path == "/languages" || path == "/health" ? "GET " : "POST ") + path + " HTTP/1.1\r\nHost: localhost\r\n" + key +
      "Content-Type: " + body.type + "\r\n" +
      (body.chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + std::to_string(content.size())) + "\r\n\r\n" +
      content;
  Cost least{1e9, 0};
  for (int run = 0; run < most_runs && least.seconds > limit; ++run) {
    const double begin = thread_seconds();
    Reply reply;
    Call call;
    try {
      RequestReader reader({.body = 9 * kMegabyte});
      bool checked = false, refused = false;
      for (std::size_t at = 0; at < text.size() && !refused; at += std::min<std::size_t>(65536, text.size() - at)) {
        reader.feed(std::string_view(text).substr(at, 65536));
        if (!reader.read_head()) continue;
        if (!checked) {
          call = {.method = reader.head().method, .path = reader.head().path, .content_type = body.type};
          call.host = reader.head().host, call.authorization = reader.head().field("authorization");
          if (const auto early = api.refusal(call)) reply = *early, refused = true;
          if (call.method != "POST") reader.drop_body();
          checked = true;
        }
        if (!refused && reader.read_body()) {
          call.body = reader.take_body();
          reply = api.answer(call);
        }
      }
    } catch (const ApiError& error) {
      reply.status = error.status;
    }
    least.seconds = std::min(least.seconds, thread_seconds() - begin);
    least.status = reply.status;
  }
  return least;
}

// The limits are some ten times what docs/serving.md lists, for slow and busy machines: parsing such bodies whole took
// seconds to minutes.
TEST(Costs, AStrangersRequestOfEightMegabytesTakesLittleTime) {
  Api api({.access = {.keys = {"secret"}}}, {});
  openapi_document();
  double most = 0;
  for (const Body& body : kBodies) {
    const std::string content = content_of(body, 8 * kMegabyte);
    for (const char* path : kPaths) {
      const Cost stranger = cost(api, path, body, content, "", 0.3 * kSlow);
      most = std::max(most, stranger.seconds);
      EXPECT_LE(stranger.seconds, 0.3 * kSlow) << path << ", " << body.name;
      if (std::string_view(path) != "/health") {
        EXPECT_GE(stranger.status, 400) << path << ", " << body.name;
      }
    }
  }
  std::printf("a request of 8 MB without a key takes at most %.0f ms\n", most * 1e3);
}

TEST(Costs, TheTimeOfABodyGrowsWithItsSize) {
  Api api({.access = {.keys = {"secret"}}}, {});
  constexpr const char* kKey = "Authorization: Bearer secret\r\n";
  for (const Body& body : kBodies) {
    const std::string small = content_of(body, kMegabyte / 4), large = content_of(body, 2 * kMegabyte);
    for (const char* path : kPaths) {
      // Eight times the size: in proportion, eight times the time; with its square, 64 times.
      const double limit = 24 * cost(api, path, body, small, kKey, 0, 2).seconds + 0.02 * kSlow;
      EXPECT_LE(cost(api, path, body, large, kKey, limit).seconds, limit) << path << ", " << body.name;
    }
  }
}

TEST(Costs, TheMemoryOfABodyIsBounded) {
  for (const Body& body : kBodies) {
    if (std::string_view(body.type) != kJson || body.chunked) continue;
    const std::string text = body.make(2 * kMegabyte);
    const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
    Json parsed;
    try {
      parsed = parse_object(text);
    } catch (const ApiError&) {
      continue;
    }
    const std::size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
    EXPECT_LE(after - before, 2 * text.size() + 16 * kMegabyte) << body.name;
  }
}

}  // namespace
}  // namespace attend::serve
