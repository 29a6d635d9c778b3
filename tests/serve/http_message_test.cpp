// The parser of requests: what it takes, what it refuses, and where a request ends.
#include "attend/serve/http_message.h"

#include <gtest/gtest.h>

#include <optional>

#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

struct Read {
  int refused = 0;  ///< status, or 0
  bool complete = false;
  RequestHead head;
  std::string body;
};

/// Reads one request, whose bytes arrive in pieces.
Read read(const std::string& text, std::size_t piece = std::string::npos, const MessageLimits& limits = {}) {
  RequestReader reader(limits);
  Read result;
  try {
    for (std::size_t at = 0; at < text.size() && !result.complete; at += std::min(piece, text.size() - at)) {
      reader.feed(std::string_view(text).substr(at, piece));
      result.complete = reader.read_head() && reader.read_body();
    }
    if (result.complete) result.head = reader.head(), result.body = reader.take_body();
  } catch (const ApiError& error) {
    result.refused = error.status;
  }
  return result;
}

std::string post(const std::string& fields, const std::string& body = "") {
  return "POST /translate HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n" + body;
}

TEST(RequestReader, ReadsTheSameInPiecesOfAnySize) {
  const std::string text =
      "\r\nPOST /a%20b?c=d HTTP/1.1\r\nHost: localhost:8080\r\nX-Field: \t one two \r\nTransfer-Encoding: "
      "Chunked\r\n\r\n"
      "3;name=value\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  for (const std::size_t piece : {1, 2, 3, 7, 1000}) {
    const Read got = read(text, piece);
    ASSERT_TRUE(got.complete) << piece;
    EXPECT_EQ(got.head.method, "POST");
    EXPECT_EQ(got.head.path, "/a b");
    EXPECT_EQ(got.head.query, "c=d");
    EXPECT_EQ(got.head.host, "localhost:8080");
    EXPECT_EQ(got.head.field("x-field"), "one two");
    EXPECT_EQ(got.body, "abc0123456789");
  }
}

TEST(RequestReader, KeepsWhatFollowsForTheNextRequest) {
  RequestReader reader({});
  reader.feed("GET /one HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /GET /two HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(reader.read_head() && reader.read_body());
  EXPECT_EQ(reader.take_body(), "GET /");
  reader.next();
  EXPECT_FALSE(reader.idle());
  ASSERT_TRUE(reader.read_head() && reader.read_body());
  EXPECT_EQ(reader.head().path, "/two");
  reader.next();
  EXPECT_TRUE(reader.idle());
}

TEST(RequestReader, RefusesWhatTwoReadersCouldReadInTwoWays) {
  const std::string host = "Host: localhost\r\n";
  const std::pair<std::string, int> cases[] = {
      {post("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {post("Transfer-Encoding: xchunked\r\n"), 501},
      {post("Transfer-Encoding: chunked, chunked\r\n"), 501},
      {post("Transfer-Encoding: identity\r\n"), 501},
      {post("Transfer-Encoding:\r\n"), 501},
      {post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {post("Transfer-Encoding : chunked\r\n"), 400},
      {post("Transfer-Encoding\t: chunked\r\n"), 400},
      {post("X: y\r\n Transfer-Encoding: chunked\r\n"), 400},
      {post("X: y\r\n\tz\r\n"), 400},
      {post("X: y\rTransfer-Encoding: chunked\r\n"), 400},
      {post("X: y\nTransfer-Encoding: chunked\r\n"), 400},
      {post(std::string("X: y\0z\r\n", 8)), 400},
      {post("X y\r\n"), 400},
      {post(": y\r\n"), 400},
      {post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), 400},
      {post("Content-Length: 3, 3\r\n", "abc"), 400},
      {post("Content-Length: +3\r\n", "abc"), 400},
      {post("Content-Length: 0x3\r\n", "abc"), 400},
      {post("Content-Length: 3 3\r\n", "abc"), 400},
      {post("Content-Length:\r\n"), 400},
      {post("Content-Length: 99999999999999999999\r\n"), 400},
      {post("Content-Length: 99999999999999\r\n"), 413},
      {post(""), 411},
      {post("Expect: tea\r\nContent-Length: 0\r\n"), 417},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: a\n\n", 400},
      {"GET  / HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /a b HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /a\tb HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /%00 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /%4 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /\xc3\xa9 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET a HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET ftp://a/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET http:///x HTTP/1.1\r\n" + host + "\r\n", 400},
      {"CONNECT a:80 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\n" + host + "\r\n", 400},
      {"GET / http/1.1\r\n" + host + "\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"\r\n\r\n\r\nGET / HTTP/1.1\r\n" + host + "\r\n", 400},
      {"\x16\x03\x01\x02", 400},  // TLS
      {" GET / HTTP/1.1\r\n" + host + "\r\n", 400},
      {"G@T / HTTP/1.1\r\n" + host + "\r\n", 400},
  };
  for (const auto& [text, status] : cases) {
    EXPECT_EQ(read(text).refused, status) << text;
    EXPECT_EQ(read(text, 1).refused, status) << text;
  }
}

TEST(RequestReader, RefusesChunksThatAreNotExact) {
  const std::string head = "Transfer-Encoding: chunked\r\n";
  for (const char* body : {"x\r\n", "\r\n", "-1\r\n", "+3\r\nabc", "0x3\r\nabc", " 3\r\nabc", "3 \r\nabc", "3\nabc",
                           "3\r\nabcd\r\n", "3\r\nabc\n", "3\r\nabc0\r\n\r\n", "0000000000000003\r\nabc\r\n",
                           "3;a\rb\r\nabc\r\n", "0\r\n folded: x\r\n\r\n", "0\r\nX\r\n\r\n", "ffffffffffffffff\r\n"})
    for (const std::size_t piece : {std::size_t{1}, std::string::npos})
      EXPECT_EQ(read(post(head, body), piece).refused, 400) << body;
  EXPECT_EQ(read(post(head, "fffffffff\r\n")).refused, 413);
  EXPECT_EQ(read(post(head, "3;" + std::string(3000, 'x'))).refused, 400);
}

TEST(RequestReader, BoundsTheHeadAndTheBody) {
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 200; ++i) many += "a: b\r\n";
  EXPECT_EQ(read(many + "\r\n").refused, 431);
  EXPECT_EQ(read("GET / HTTP/1.1\r\nX: " + std::string(70000, 'x'), 1000).refused, 431);
  EXPECT_EQ(read("GET /" + std::string(70000, 'x'), 1000).refused, 414);
  EXPECT_EQ(read("GET /" + std::string(70000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n").refused, 414);
  EXPECT_EQ(read("GET /" + std::string(2000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n").refused, 414);
  // Chunks of one byte: what is sent counts too.
  std::string chunks = post("Transfer-Encoding: chunked\r\n");
  for (int i = 0; i < 30000; ++i) chunks += "1\r\nx\r\n";
  EXPECT_EQ(read(chunks, 4096, {.body = 50000}).refused, 413);
  EXPECT_EQ(read(chunks + "0\r\n\r\n", 4096, {.body = 200000}).body.size(), 30000u);
}

TEST(RequestReader, KnowsTheVersionsAndFormsOfRequests) {
  const Read absolute = read("GET HTTP://Other:1?q=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(absolute.head.host, "Other:1");
  EXPECT_EQ(absolute.head.path, "/");
  EXPECT_EQ(absolute.head.query, "q=1");
  EXPECT_EQ(read("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").head.path, "*");
  EXPECT_TRUE(read("GET / HTTP/1.1\r\nHost: a\r\n\r\n").head.keep_alive);
  EXPECT_FALSE(read("GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, Close\r\n\r\n").head.keep_alive);
  EXPECT_FALSE(read("GET / HTTP/1.0\r\n\r\n").head.keep_alive);
  EXPECT_TRUE(read("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").head.keep_alive);
  EXPECT_TRUE(read(post("Expect: 100-continue\r\nContent-Length: 0\r\n")).head.expects_continue);
}

}  // namespace
}  // namespace attend::serve
