// The sockets of the server: where requests end, who gets a worker, and how it ends, with clients that mean harm.
#include "attend/serve/http.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "tests/serve/raw.h"

namespace attend::serve {
namespace {

using test::Raw;
using test::status_of;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A server without models.
class Running {
 public:
  explicit Running(const HttpLimits& limits = {}, AccessRules access = {})
      : api_({.access = std::move(access)}, {}), http_(limits, api_), port_(http_.bind("127.0.0.1", 0)) {
    thread_ = std::thread([this] { http_.run(); });
  }
  ~Running() { stop(); }
  int port() const { return port_; }
  Raw connect() const { return Raw(port_); }
  /// The answer to bytes on a connection of their own.
  std::string ask(const std::string& text, int patience = 3000) const {
    const Raw raw(port_);
    raw.send(text);
    return raw.receive(patience);
  }
  /// How long /health takes on a new connection; it must answer.
  milliseconds health() const {
    const auto begin = Clock::now();
    EXPECT_EQ(status_of(ask("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 10000)),
              "HTTP/1.1 200 OK");
    return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
  }
  void stop() {
    http_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  Api api_;
  Http http_;
  int port_;
  std::thread thread_;
};

std::size_t answers_in(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("HTTP/1.1 ", at)) != std::string::npos; ++at) ++count;
  return count;
}

std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

TEST(Http, ABodyBelongsToItsRequestWhateverTheMethodIs) {
  const Running server;
  const std::string hidden = get("/hidden");
  for (const char* method : {"GET", "HEAD", "OPTIONS", "DELETE", "PUT", "POST", "TRACE"})
    for (const char* path : {"/health", "/v1/models", "/nothing"}) {
      const std::string head = std::string(method) + " " + path + " HTTP/1.1\r\nHost: localhost\r\n";
      const std::string whole =
          server.ask(head + "Content-Length: " + std::to_string(hidden.size()) + "\r\n\r\n" + hidden, 300);
      EXPECT_EQ(answers_in(whole), 1u) << method << path << whole;
      EXPECT_EQ(whole.find("/hidden"), std::string::npos);
      std::array<char, 8> size{};
      std::snprintf(size.data(), size.size(), "%zx", hidden.size());
      const std::string chunked = server.ask(
          head + "Transfer-Encoding: chunked\r\n\r\n" + size.data() + "\r\n" + hidden + "\r\n0\r\n\r\n", 300);
      EXPECT_EQ(answers_in(chunked), 1u) << method << path << chunked;
    }
}

TEST(Http, ClosesAfterWhatItCannotRead) {
  const Running server;
  for (const char* head :
       {"Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "Content-Length: 4\r\nContent-Length: 5\r\n", " folded\r\n", "X : y\r\n", "Host: again\r\n"}) {
    const std::string all = server.ask(get("/health", head) + "0\r\n\r\n" + get("/health"));
    EXPECT_EQ(answers_in(all), 1u) << head << all;
    EXPECT_NE(all.find("Connection: close"), std::string::npos) << all;
    EXPECT_NE(all.find("\"error\""), std::string::npos) << all;
  }
}

TEST(Http, AnswersPipelinedRequestsInTheirOrder) {
  const Running server;
  const std::string post = "POST /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
  const std::string all = server.ask(get("/health") + get("/v1/models") + post + get("/ready") + get("/openapi.json") +
                                     get("/health", "Connection: close\r\n"));
  EXPECT_EQ(answers_in(all), 6u);
  const std::size_t health = all.find("\"ok\""), models = all.find("\"list\""), wrong = all.find("405"),
                    ready = all.find("\"ready\""), api = all.find("\"3.1.0\""), last = all.rfind("\"ok\"");
  EXPECT_TRUE(health < models && models < wrong && wrong < ready && ready < api && api < last && last < all.size());
}

TEST(Http, HeadHasNoBodyAndOldClientsAreUnderstood) {
  const Running server;
  const std::string head = server.ask("HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 15\r\n"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  for (const char* wrong : {"Content-Encoding: gzip\r\n", "Origin: a\r\nOrigin: b\r\n"}) {
    const std::string refused =
        server.ask(std::string("HEAD /health HTTP/1.1\r\nHost: localhost\r\n") + wrong + "\r\n");
    EXPECT_NE(refused.find("HTTP/1.1 4"), std::string::npos);
    EXPECT_TRUE(refused.ends_with("\r\n\r\n")) << refused;
  }
  EXPECT_EQ(status_of(server.ask("GET /health HTTP/1.0\r\n\r\n")), "HTTP/1.1 200 OK");
  const std::string kept = "GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  EXPECT_EQ(answers_in(server.ask(kept + kept + "GET /health HTTP/1.0\r\n\r\n")), 3u);
}

TEST(Http, AnAnswerInPartsStaysWholeForAClientThatHasStoppedSending) {
  const Running server;
  const std::string path = "/v1/lessons/positions?width=64&length=2048", close = "Connection: close\r\n";
  const Raw raw = server.connect();
  raw.send(get(path, close));
  raw.receive_some();
  raw.shut_down();
  const std::string rest = raw.receive();
  EXPECT_GT(rest.size(), std::size_t{1} << 20);
  EXPECT_EQ(rest.find(":\n\n"), std::string::npos);  // a comment is for streams of events only
  EXPECT_TRUE(rest.ends_with("]}\r\n0\r\n\r\n")) << rest.substr(rest.size() - 80);
  const std::string head = server.ask("HEAD " + path + " HTTP/1.1\r\nHost: localhost\r\n" + close + "\r\n");
  EXPECT_EQ(status_of(head), "HTTP/1.1 200 OK");
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head.size();
}

TEST(Http, InvitesABodyThatWaitsForIt) {
  const Running server({}, {.keys = {"secret"}});
  const Raw raw = server.connect();
  const std::string head =
      "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
      "Connection: close\r\nExpect: 100-continue\r\n";
  raw.send(head + "Authorization: Bearer secret\r\n\r\n");
  EXPECT_EQ(raw.receive(300), "HTTP/1.1 100 Continue\r\n\r\n");
  raw.send("{}");
  EXPECT_EQ(status_of(raw.receive()), "HTTP/1.1 400 Bad Request");
  std::string wrong = head;
  wrong.replace(wrong.find("/translate"), 10, "/v1/embeddings");
  EXPECT_EQ(status_of(server.ask(wrong + "\r\n")), "HTTP/1.1 401 Unauthorized");
}

TEST(Http, RefusesABodyBeforeItArrives) {
  const Running server({}, {.keys = {"secret"}});
  const std::string head = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  EXPECT_EQ(status_of(server.ask(head + "Content-Length: 8000000\r\n\r\n")), "HTTP/1.1 401 Unauthorized");
  // A client that sends all of it before it reads gets the answer, too.
  EXPECT_EQ(status_of(server.ask(head + "Content-Length: 8000000\r\n\r\n" + std::string(8000000, ' '))),
            "HTTP/1.1 401 Unauthorized");
}

TEST(Http, ConnectionsThatAreIdleOrSlowMakeRoomForOthers) {
  HttpLimits limits;
  limits.connections = 16;
  const Running server(limits);
  for (const char* half : {"", "GET /hea",
                           "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                           "application/json\r\nContent-Length: 100\r\n\r\n{"}) {
    std::vector<Raw> many;
    for (int i = 0; i < 100; ++i) {
      many.push_back(server.connect());
      many.back().send(half);
    }
    EXPECT_LT(server.health(), milliseconds(3000)) << half;
    EXPECT_LT(server.health(), milliseconds(3000)) << half;
  }
  std::vector<Raw> idle;
  for (int i = 0; i < 16; ++i) {
    idle.push_back(server.connect());
    idle.back().send(get("/health"));
    idle.back().receive_some();
  }
  for (int i = 0; i < 20; ++i)  // not only monitoring is answered
    EXPECT_EQ(status_of(server.ask(get("/v1/models", "Connection: close\r\n"))), "HTTP/1.1 200 OK");
}

TEST(Http, AHalfSentRequestHasADeadline) {
  HttpLimits limits;
  limits.head = milliseconds(300), limits.request = milliseconds(600), limits.idle = milliseconds(300);
  const Running server(limits);
  const auto begin = Clock::now();
  for (const char* half : {"GET /health HTTP/1.1\r\nX: ",
                           "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                           "application/json\r\nContent-Length: 100\r\n\r\n{"}) {
    const Raw raw = server.connect();
    raw.send(half);
    std::string answer;
    for (int i = 0; i < 50 && answer.empty(); ++i) {  // a byte now and then does not help
      raw.send("x");
      answer = raw.receive(50);
    }
    EXPECT_EQ(status_of(answer), "HTTP/1.1 408 Request Timeout") << half;
  }
  const Raw idle = server.connect();
  EXPECT_EQ(idle.receive(3000), "");
  EXPECT_LT(Clock::now() - begin, milliseconds(5000));
}

TEST(Http, ClientsThatDoNotReadTakeNoWorker) {
  HttpLimits limits;
  limits.connections = 4;
  const Running server(limits);
  std::string much;
  for (int i = 0; i < 200; ++i) much += get("/openapi.json");
  std::vector<Raw> deaf;
  for (int i = 0; i < 8; ++i) {
    deaf.push_back(server.connect());
    deaf.back().send(much);
  }
  std::this_thread::sleep_for(milliseconds(1500));
  EXPECT_LT(server.health(), milliseconds(3000));
  EXPECT_EQ(status_of(server.ask(get("/v1/models", "Connection: close\r\n"))), "HTTP/1.1 200 OK");
}

constexpr const char* kLarge = "/v1/lessons/positions?width=1024&length=2048";  // some 20 MB, sent in parts

TEST(Http, ClientsThatDoNotReadLargeAnswersMakeRoomForOthers) {
  HttpLimits limits;
  limits.connections = 4;
  const Running server(limits);
  std::vector<Raw> deaf;
  for (int i = 0; i < 4; ++i) {
    deaf.push_back(server.connect());
    deaf.back().send(get(kLarge));
    deaf.back().receive_some();
  }
  std::string status;
  const auto end = Clock::now() + milliseconds(10000);
  while (status != "HTTP/1.1 200 OK" && Clock::now() < end) {
    status = status_of(server.ask(get("/v1/models", "Connection: close\r\n")));
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_EQ(status, "HTTP/1.1 200 OK");
}

TEST(Http, WorkersOfAPeakEndAfterIt) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  HttpLimits limits;
  limits.surplus = milliseconds(200);
  const Running server(limits);
  const auto before = threads();
  {
    std::vector<Raw> peak;
    for (int i = 0; i < 12; ++i) {
      peak.push_back(server.connect());
      peak.back().send(get(kLarge));
    }
    for (int i = 0; i < 100 && threads() < before + 12; ++i) std::this_thread::sleep_for(milliseconds(50));
    EXPECT_GE(threads(), before + 12) << "each keeps its worker";
  }
  for (int i = 0; i < 200 && threads() > before + 1; ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_LE(threads(), before + 1);
  EXPECT_EQ(status_of(server.ask(get("/v1/models", "Connection: close\r\n"))), "HTTP/1.1 200 OK");
}

TEST(Http, AClientThatReadsSlowlyAndSteadilyGetsALargeAnswer) {
  HttpLimits limits;
  limits.write = milliseconds(400);
  const Running server(limits);
  const Raw raw = server.connect();
  raw.send(get(kLarge, "Connection: close\r\n"));
  std::string block(64 << 10, '\0'), last;
  for (std::size_t all = 0, waited = 0, got = 0; (got = raw.read(block)) > 0;) {
    last = block.substr(0, got);
    for (all += got; all / (1 << 20) > waited; ++waited) std::this_thread::sleep_for(milliseconds(100));
  }
  EXPECT_TRUE(last.ends_with("]}\r\n0\r\n\r\n"));
}

TEST(Http, AFullServerSaysSoAndIsStillHealthy) {
  HttpLimits limits;
  limits.connections = 0;  // nobody has room
  const Running server(limits);
  EXPECT_LT(server.health(), milliseconds(3000));
  const std::string answer = server.ask(get("/v1/models"));
  EXPECT_EQ(status_of(answer), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_NE(answer.find("server_full"), std::string::npos);
}

TEST(Http, BytesOfAllRequestsAreBounded) {
  HttpLimits limits;
  limits.buffered = 4 << 20, limits.message.body = 1 << 20;
  const Running server(limits);
  const std::string head =
      "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "1000000\r\n\r\n";
  std::vector<Raw> many;
  for (int i = 0; i < 8; ++i) {
    many.push_back(server.connect());
    many.back().send(head + std::string(900000, ' '));
  }
  int full = 0;
  for (const Raw& raw : many) full += status_of(raw.receive(300)) == "HTTP/1.1 503 Service Unavailable";
  EXPECT_GE(full, 4);
  many.clear();
  EXPECT_EQ(status_of(server.ask(head + std::string(1000000, ' '))), "HTTP/1.1 400 Bad Request");
}

TEST(Http, EndsSoonInEveryState) {
  std::string much;
  for (int i = 0; i < 200; ++i) much += get("/openapi.json");
  for (const std::string& sent :
       {std::string(), get("/health"), std::string("GET /hea"), much,
        std::string("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"),
        std::string("GARBAGE\r\n\r\n")}) {
    Running server;
    std::vector<Raw> many;
    for (int i = 0; i < 300; ++i) {
      many.push_back(server.connect());
      if (i < 8 || sent.size() < 1000) many.back().send(sent);
    }
    const auto begin = Clock::now();
    server.stop();
    EXPECT_LT(Clock::now() - begin, milliseconds(5000)) << sent.substr(0, 40);
  }
}

}  // namespace
}  // namespace attend::serve
