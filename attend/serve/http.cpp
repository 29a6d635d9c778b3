#include "attend/serve/http.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "attend/core/threads.h"
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// A socket as cpp-httplib reads and writes it.
class Connection final : public httplib::Stream {
 public:
  Connection(int socket, const HttpLimits& limits) : socket_(socket), limits_(limits) {
    const int yes = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }

  /// Resets the time and the bytes that a request may take: first those of its headers.
  void begin_request() {
    deadline_ = Clock::now() + limits_.request;
    allowed_ = limits_.head;
  }
  void begin_body() { allowed_ += limits_.body; }
  /// Whether input arrives within a time.
  bool wait_for_input(std::chrono::milliseconds patience) const {
    return at_ < size_ || ready(POLLIN, static_cast<int>(patience.count()));
  }
  /// The rest of the request is not read: the connection is closed after the answer.
  void close_after_answer() { must_close_ = true; }
  bool must_close() const { return must_close_; }
  bool too_large() const { return allowed_ == 0; }

  bool hung_up() const {
    pollfd wanted{socket_, POLLRDHUP, 0};
    return ::poll(&wanted, 1, 0) > 0 && (wanted.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }
  /// Reads what the client is still sending. Otherwise the system would reset the connection, and the answer be lost.
  void close() {
    if (must_close_) {
      ::shutdown(socket_, SHUT_WR);
      const auto end = Clock::now() + std::chrono::milliseconds(500);
      std::array<char, 16384> unwanted{};
      while (ready(POLLIN, milliseconds_until(end)) && ::recv(socket_, unwanted.data(), unwanted.size(), 0) > 0)
        if (Clock::now() >= end) break;
    }
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
  }

  bool is_readable() const override { return at_ < size_ || ready(POLLIN, milliseconds_until(deadline_)); }
  bool is_writable() const override {
    return ready(POLLOUT, static_cast<int>(std::chrono::milliseconds(limits_.write).count())) && !hung_up();
  }

  ssize_t read(char* to, std::size_t size) override {
    if (at_ == size_) {
      if (!ready(POLLIN, milliseconds_until(deadline_)) || allowed_ == 0) return -1;
      const ssize_t got = ::recv(socket_, buffer_.data(), std::min(buffer_.size(), allowed_), 0);
      if (got <= 0) return got;
      at_ = 0, size_ = static_cast<std::size_t>(got);
      allowed_ -= size_;
    }
    const std::size_t count = std::min(size, size_ - at_);
    std::memcpy(to, buffer_.data() + at_, count);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    if (!ready(POLLOUT, static_cast<int>(std::chrono::milliseconds(limits_.write).count()))) return -1;
    return ::send(socket_, from, size, MSG_NOSIGNAL);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return socket_; }

  // Newer versions of cpp-httplib ask for these too.
  bool wait_readable() const { return is_readable(); }
  bool wait_writable() const { return is_writable(); }
  bool is_peer_alive() const { return !hung_up(); }
  time_t duration() const { return 0; }

 private:
  bool ready(short what, int patience) const {
    pollfd wanted{socket_, what, 0};
    int found = 0;
    do found = ::poll(&wanted, 1, patience);
    while (found < 0 && errno == EINTR);
    return found > 0;
  }

  int socket_;
  const HttpLimits& limits_;
  Clock::time_point deadline_ = Clock::now();
  std::size_t allowed_ = 0;
  bool must_close_ = false;
  std::array<char, 16384> buffer_{};
  std::size_t at_ = 0, size_ = 0;
};

/// The connection whose request this thread answers.
thread_local Connection* current = nullptr;

void give(Reply reply, httplib::Response& response) {
  response.status = reply.status;
  for (const auto& [key, value] : reply.headers) response.set_header(key, value);
  if (!reply.stream) {
    response.body = std::move(reply.body);
    response.set_header("Content-Type", reply.type);
    return;
  }
  const auto provide = [stream = std::move(reply.stream)](std::size_t, httplib::DataSink& sink) {
    bool alive = true;
    stream([&](std::string_view part) {
      return alive = alive && !current->hung_up() && sink.write(part.data(), part.size());
    });
    if (alive) sink.done();
    return alive;
  };
  response.set_chunked_content_provider(reply.type, provide);
}

void refuse(int status, const char* code, const std::string& message, httplib::Response& response) {
  give(error_reply(std::make_exception_ptr(ApiError(status, code, message))), response);
}

/// Answers errors of cpp-httplib itself: a malformed request line, headers that are too long.
void explain(httplib::Response& response) {
  if (!response.body.empty() || response.content_length_ > 0) return;
  if (current && current->too_large()) response.status = 413;
  const int status = response.status;
  if (current) current->close_after_answer();
  if (status == 413)
    refuse(413, "body_too_large", "the request has more bytes than the server takes", response);
  else if (status == 404)
    refuse(404, "not_found", "there is no such endpoint", response);
  else
    refuse(status, status >= 500 ? "internal" : "invalid_value", "the request is malformed", response);
}

}  // namespace

Http::Http(const HttpLimits& limits, std::function<Reply(const Call&)> answer)
    : limits_(limits), answer_(std::move(answer)) {
  new_task_queue = [count = limits.connections] { return new httplib::ThreadPool(count); };
  set_socket_options([](socket_t socket) {  // not SO_REUSEPORT: two servers could share a port unnoticed
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  set_payload_max_length(limits.body);
  set_pre_routing_handler([this](const auto& request, auto& response) { return check(request, response); });
  set_error_handler([](const httplib::Request&, httplib::Response& response) { explain(response); });
  const auto all = [this](const httplib::Request& request, httplib::Response& response) { handle(request, response); };
  constexpr const char* kAny = R"([\s\S]*)";
  Get(kAny, all), Post(kAny, all), Put(kAny, all), Patch(kAny, all), Delete(kAny, all), Options(kAny, all);
}

int Http::bind(const std::string& host, int port) {
  errno = 0;
  const int bound = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
  if (bound < 0)
    fail<InputError>("serve", "cannot listen at ", host, ":", port, ": ",
                     errno ? std::strerror(errno) : "no such address", "; is another server running there?");
  ::listen(svr_sock_, SOMAXCONN);  // cpp-httplib leaves room for five
  return bound;
}

bool Http::process_and_close_socket(socket_t socket) {
  set_threads(1);  // this thread does little work itself; the model thread uses all cores
  Connection connection(socket, limits_);
  current = &connection;
  const auto may_wait = [this, &connection] {
    const auto end = Clock::now() + limits_.idle;
    while (svr_sock_ != INVALID_SOCKET && Clock::now() < end)
      if (connection.wait_for_input(std::chrono::milliseconds(100))) return true;
    return false;
  };
  const std::function<void(httplib::Request&)> setup = [](httplib::Request& request) {
    request.headers.erase("Accept-Encoding");                // answers are not compressed: they are small
    request.headers.erase("Range"), request.ranges.clear();  // and are sent as a whole
  };
  bool closed = false;
  const auto process = [&](auto& stream) {  // newer versions take both addresses
    if constexpr (requires { process_request(stream, false, closed, setup); })
      return process_request(stream, false, closed, setup);
    else
      return process_request(stream, "", 0, "", 0, false, closed, setup);
  };
  try {
    while (may_wait()) {
      connection.begin_request();
      if (!process(connection) || closed || connection.must_close()) break;
    }
  } catch (const std::exception&) {  // such as out of memory: only this client is affected
  }
  connection.close();
  current = nullptr;
  return true;
}

/// Refuses requests before their body is read.
httplib::Server::HandlerResponse Http::check(const httplib::Request& request, httplib::Response& response) const {
  const auto refused = [&](int status, const char* code, const std::string& message) {
    current->close_after_answer();
    refuse(status, code, message, response);
    return HandlerResponse::Handled;
  };
  current->begin_body();
  if (request.path.size() > 1024) return refused(414, "not_found", "the path is too long");
  const bool chunked = request.has_header("Transfer-Encoding");
  const std::size_t lengths = request.get_header_value_count("Content-Length");
  if (lengths > 1 || (lengths == 1 && chunked))
    return refused(400, "invalid_value", "the request gives its length more than once");
  if (lengths == 1) {
    const std::string length = request.get_header_value("Content-Length");
    if (length.empty() || length.size() > 18 ||
        !std::ranges::all_of(length, [](char c) { return c >= '0' && c <= '9'; }))
      return refused(400, "invalid_value", "Content-Length is not a number");
    if (std::stoull(length) > limits_.body)
      return refused(
          413, "body_too_large",
          "the body is too large: got " + length + " bytes, expected at most " + std::to_string(limits_.body));
  }
  const bool has_body = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (has_body && !chunked && lengths == 0)
    return refused(411, "missing_field", "a request with a body needs a Content-Length");
  if (const std::string encoding = request.get_header_value("Content-Encoding");
      !encoding.empty() && encoding != "identity")
    return refused(415, "invalid_value", "the body is encoded as " + encoding + ", expected none");
  if (request.is_multipart_form_data())
    return refused(415, "invalid_value", "the body is a multipart form, expected JSON");
  return HandlerResponse::Unhandled;
}

void Http::handle(const httplib::Request& request, httplib::Response& response) const {
  Call call{.method = request.method, .path = request.path, .body = request.body};
  for (const auto& [key, value] : request.params) call.query.emplace(key, value);
  call.content_type = request.get_header_value("Content-Type");
  call.authorization = request.get_header_value("Authorization");
  call.origin = request.get_header_value("Origin");
  call.hung_up = [connection = current] { return connection->hung_up(); };
  give(answer_(call), response);
}

}  // namespace attend::serve
