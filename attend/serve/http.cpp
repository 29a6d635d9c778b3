#include "attend/serve/http.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSweep{100};     // how often deadlines are checked
constexpr milliseconds kGrace{1000};    // a new or half-sent request is left alone for so long
constexpr milliseconds kClosing{1000};  // for the client to read the last answer
constexpr milliseconds kHurry{2000};
constexpr std::size_t kSpare = 64;  // connections over the limit, which hear that the server is full; /health works
constexpr std::size_t kBlock = 64 << 10;
constexpr std::size_t kExpected = 16;  // bytes that a client should read in a millisecond

ApiError server_full() {
  ApiError error(503, "server_full", "the server has too many connections");
  error.retry_after = 1;
  return error;
}

Call call_of(const RequestHead& head) {
  Call call{.method = head.method, .path = head.path};
  call.host = head.host;
  call.content_type = head.field("content-type");
  call.authorization = head.field("authorization");
  call.origin = head.field("origin");
  call.requested_method = head.field("access-control-request-method");
  call.requested_headers = head.field("access-control-request-headers");
  call.query = parse_form(head.query);
  if (const std::string encoding = head.field("content-encoding"); !encoding.empty() && encoding != "identity")
    throw ApiError(415, "invalid_value", "the body is encoded as " + encoding + ", expected none");
  return call;
}

}  // namespace

struct Http::Connection {
  enum class State {
    reading,  // waits for a request or its rest
    working,  // a worker has it
    writing,  // the client has not yet read its answer
    closing,  // the answer is sent and nothing more is read, until the client closes the connection
  };

  Connection(int socket, const MessageLimits& limits) : socket(socket), reader(limits) {}
  ~Connection() { ::close(socket); }

  /// Sends what the socket takes; false if the client is gone.
  bool send_some() {
    while (sent < out.size()) {
      const ssize_t count = ::send(socket, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      sent += static_cast<std::size_t>(count);
    }
    out.clear(), sent = 0;
    return true;
  }

  /// Whether the client is gone. A client that has only closed its own direction (shutdown) may still wait for the
  /// answer, and the system cannot tell it from one that has closed the connection. So it is sent a few bytes that mean
  /// nothing: if it is gone, its system refuses them, and the next call sees that. Within a stream, only a stream of
  /// events has such bytes; the parts of other streams are refused in the same way.
  bool hung_up() {
    pollfd wanted{socket, POLLRDHUP, 0};
    if (::poll(&wanted, 1, 0) <= 0) return false;
    if ((wanted.revents & (POLLHUP | POLLERR)) != 0) return true;
    if ((wanted.revents & POLLRDHUP) == 0) return false;
    if (probed || !out.empty() || (stream_begun && !events)) return false;
    probed = true;
    const char* probe = "HTTP/1.1 100 Continue\r\n\r\n";
    if (stream_begun)
      probe = chunked ? "3\r\n:\n\n\r\n" : ":\n\n";  // a comment of an event stream
    else if (call_http_1_0)
      return true;  // HTTP/1.0 has no bytes without a meaning
    const auto size = static_cast<ssize_t>(std::strlen(probe));
    const ssize_t count = ::send(socket, probe, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return probed = false;  // it reads slowly
    return count != size;
  }

  int socket;
  RequestReader reader;
  State state = State::reading;
  bool extra = false;         // one more than the limit
  bool head_checked = false;  // of the current request
  bool served = false;        // at least one request
  bool watched = false;
  Clock::time_point since = Clock::now();     // of the state or the request
  Clock::time_point deadline = Clock::now();  // of the state
  std::size_t size = 0;                       // bytes that count as buffered
  std::size_t unwanted = 0;                   // bytes that arrived after the last answer
  Call call;
  bool call_http_1_0 = false, is_head = false, close_after = false;
  bool broken = false;  // the answer could not be sent

  std::string out;  // what is not yet sent begins at `sent`
  std::size_t sent = 0;
  bool stream_begun = false, events = false, chunked = false, probed = false;
};

Http::Http(const HttpLimits& limits, Api& api) : limits_(limits), api_(api), workers_(limits.connections) {
  poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake_}};
  if (poll_ < 0 || wake_ < 0 || ::epoll_ctl(poll_, EPOLL_CTL_ADD, wake_, &event) != 0)
    fail("serve", "cannot watch sockets: ", std::strerror(errno));
}

Http::~Http() {
  for (const int file : {listening_, poll_, wake_})
    if (file >= 0) ::close(file);
}

int Http::bind(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  errno = 0;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) found = nullptr;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, [](addrinfo* all) {
    if (all) ::freeaddrinfo(all);
  });
  int reason = 0;
  for (const addrinfo* one = found; one && listening_ < 0; one = one->ai_next) {
    const int file = ::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol);
    const int yes = 1;  // not SO_REUSEPORT: two servers could share a port unnoticed
    ::setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (file >= 0 && ::bind(file, one->ai_addr, one->ai_addrlen) == 0 && ::listen(file, SOMAXCONN) == 0) {
      listening_ = file;
    } else {
      reason = errno;
      if (file >= 0) ::close(file);
    }
  }
  if (listening_ < 0)
    fail<InputError>("serve", "cannot listen at ", host, ":", port, ": ",
                     reason ? std::strerror(reason) : "no such address", "; is another server running there?");
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listening_, reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

void Http::stop() {
  stopped_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

void Http::run() {
  std::array<epoll_event, 256> events{};
  Clock::time_point swept = Clock::now(), dismissed = swept;
  watch_for_new();
  while (!stopped_) {
    const int count =
        ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), static_cast<int>(kSweep.count()));
    for (int i = 0; i < count; ++i) {
      const int file = events[static_cast<std::size_t>(i)].data.fd;
      protect(file, [&] { handle(file); });
    }
    if (Clock::now() - swept >= kSweep) {
      protect(-1, [&] { close_late_ones(); });
      crowded_ = connections_.size() >= limits_.connections;
      watch_for_new();
      swept = Clock::now();
      const bool unneeded = swept - dismissed >= limits_.surplus;
      workers_.shrink(unneeded);
      if (unneeded) dismissed = swept;
    }
  }
  drain();
}

/// Runs a step of the work for a connection. If it fails, such as for want of memory, only this client is affected.
template <typename Step>
void Http::protect(int file, const Step& step) {
  try {
    step();
  } catch (const std::exception&) {
    const auto found = connections_.find(file);
    if (found != connections_.end() && found->second->state != Connection::State::working) close(*found->second);
  }
}

/// Something has happened to a file.
void Http::handle(int file) {
  if (file == wake_) return take_back();
  if (file == listening_) return accept_all();
  const auto found = connections_.find(file);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  if (!connection.watched) return;  // of a connection that had this number before
  if (connection.state == Connection::State::writing)
    resume(connection);
  else
    receive(connection);
}

/// Watches for new connections, unless it does so already.
void Http::watch_for_new() {
  if (accepting_) return;
  epoll_event event{.events = EPOLLIN, .data = {.fd = listening_}};
  accepting_ = ::epoll_ctl(poll_, EPOLL_CTL_ADD, listening_, &event) == 0;
}

/// Ends the connections and the workers. Requests that workers have are answered.
void Http::drain() {
  ::close(std::exchange(listening_, -1));
  std::vector<Connection*> all;
  const auto collect = [&](auto&& wanted) {
    all.clear();
    for (const auto& [file, connection] : connections_)
      if (wanted(connection->state)) all.push_back(connection.get());
  };
  hurried_ = true;
  for (const auto end = Clock::now() + kHurry; Clock::now() < end;) {
    take_back();
    collect([](Connection::State state) { return state == Connection::State::writing; });
    for (Connection* connection : all) flush(*connection);
    collect([](Connection::State state) { return state == Connection::State::reading; });
    for (Connection* connection : all) close(*connection);
    collect([](Connection::State state) { return state != Connection::State::closing; });
    if (all.empty()) break;
    std::this_thread::sleep_for(milliseconds(5));
  }
  for (const auto& [file, connection] : connections_) ::shutdown(file, SHUT_RDWR);  // workers that write see it
  workers_.finish();
  connections_.clear();
}

void Http::watch(Connection& connection, unsigned events) {
  epoll_event event{.events = events, .data = {.fd = connection.socket}};
  ::epoll_ctl(poll_, connection.watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, connection.socket, &event);
  connection.watched = true;
}

void Http::close(Connection& connection) {
  buffered_ -= connection.size;
  connections_.erase(connection.socket);
}

void Http::accept_all() {
  for (int i = 0; i < 64; ++i) {
    const int file = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (file < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) {  // too many open files: try again after the next sweep
        make_room(false, nullptr);
        ::epoll_ctl(poll_, EPOLL_CTL_DEL, listening_, nullptr);
        accepting_ = false;
      }
      return;
    }
    while (connections_.size() >= limits_.connections && make_room(false, nullptr)) {
    }
    const bool full = connections_.size() >= limits_.connections;
    if (connections_.size() >= limits_.connections + kSpare) close_oldest_extra();
    const int yes = 1;
    ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::unique_ptr<Connection> opened;
    try {
      opened = std::make_unique<Connection>(file, limits_.message);
    } catch (const std::bad_alloc&) {
      ::close(file);
      return;
    }
    Connection& connection = *(connections_[file] = std::move(opened));
    connection.extra = full;
    connection.deadline = connection.since + (full ? kGrace : limits_.head);
    watch(connection, EPOLLIN);
  }
}

/// Closes the connection that is missed least: one that is being closed, then the one that has been idle for the
/// longest time, then the oldest of those that are slow to send a request or to read an answer.
bool Http::make_room(bool only_with_bytes, const Connection* spare) {
  const auto now = Clock::now();
  Connection* least = nullptr;
  int least_rank = 0;
  for (const auto& [file, one] : connections_) {
    if (one.get() == spare || (only_with_bytes && one->size == 0)) continue;
    int rank = 0;
    if (one->state == Connection::State::closing)
      rank = 3;
    else if (one->state == Connection::State::reading && one->reader.idle() && one->served)
      rank = 2;
    else if (one->state != Connection::State::working && now - one->since >= kGrace)
      rank = 1;
    if (rank > least_rank || (rank == least_rank && rank > 0 && one->since < least->since))
      least = one.get(), least_rank = rank;
  }
  if (!least) return false;
  close(*least);
  return true;
}

/// Those over the limit make room for each other: each has the time in which as many new ones come.
void Http::close_oldest_extra() {
  Connection* oldest = nullptr;
  for (const auto& [file, one] : connections_)
    if (one->extra && (!oldest || one->since < oldest->since)) oldest = one.get();
  if (oldest) close(*oldest);
}

void Http::close_late_ones() {
  const auto now = Clock::now();
  std::vector<Connection*> late;
  for (const auto& [file, connection] : connections_)
    if (connection->state != Connection::State::working && connection->deadline <= now)
      late.push_back(connection.get());
  for (Connection* connection : late) {
    if (connection->state != Connection::State::reading || connection->reader.idle()) {
      close(*connection);
      continue;
    }
    protect(connection->socket, [&] {
      const auto error = std::make_exception_ptr(ApiError(408, "timeout", "the request did not arrive in time"));
      send(*connection, api_.refuse(connection->call, error), true);
    });
  }
}

void Http::receive(Connection& connection) {
  static thread_local std::array<char, kBlock> block;
  const ssize_t count = ::recv(connection.socket, block.data(), block.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (count <= 0) return close(connection);
  if (connection.state == Connection::State::closing) {  // what is not wanted any more
    connection.unwanted += static_cast<std::size_t>(count);
    if (connection.unwanted > limits_.message.body + limits_.message.head) close(connection);
    return;
  }
  if (connection.reader.idle()) {
    connection.since = Clock::now();
    connection.deadline = connection.since + (connection.extra ? kGrace : limits_.head);
  }
  connection.reader.feed({block.data(), static_cast<std::size_t>(count)});
  advance(connection);
}

/// Reads requests from what has arrived, until one goes to a worker or more bytes are needed.
void Http::advance(Connection& connection) {
  const int file = connection.socket;
  try {
    while (connections_.contains(file) && connection.state == Connection::State::reading && take_request(connection)) {
      if (!Api::is_quick(connection.call)) return give_to_worker(connection);
      send(connection, api_.answer(connection.call), connection.extra || !connection.reader.head().keep_alive);
    }
  } catch (...) {
    send(connection, api_.refuse(connection.call, std::current_exception()), true);
  }
}

void Http::give_to_worker(Connection& connection) {
  connection.state = Connection::State::working;
  ::epoll_ctl(poll_, EPOLL_CTL_DEL, connection.socket, nullptr);
  connection.watched = false;
  try {
    workers_.add([this, &connection] { work(connection); });
  } catch (...) {
    connection.state = Connection::State::reading;
    throw;
  }
}

/// Whether a request is complete. Throws ApiError for one that is refused.
bool Http::take_request(Connection& connection) {
  RequestReader& reader = connection.reader;
  if (!connection.head_checked) {
    connection.call = {};
    connection.is_head = connection.call_http_1_0 = false;
    if (!reader.read_head()) return false;
    const RequestHead& head = reader.head();
    // First what an error needs for its shape: the next lines may throw.
    connection.call_http_1_0 = head.http_1_0;
    connection.is_head = head.method == "HEAD";
    connection.call.path = head.path, connection.call.origin = head.field("origin");
    connection.call = call_of(head);
    connection.head_checked = true;
    connection.deadline = connection.since + limits_.request;
    if (connection.extra && !Api::is_quick(connection.call)) throw server_full();
    if (head.has_body()) {
      if (auto refused = api_.refusal(connection.call)) {
        send(connection, *std::move(refused), true);
        return false;
      }
      if (head.method != "POST") reader.drop_body();
    }
    if (head.expects_continue && !reader.read_body()) {
      connection.out = "HTTP/1.1 100 Continue\r\n\r\n";
      if (!connection.send_some() || !connection.out.empty()) throw server_full();
    }
  }
  const bool done = reader.read_body();
  buffered_ -= connection.size;
  connection.size = reader.size();
  buffered_ += connection.size;
  if (buffered_ > limits_.buffered && !make_room(true, &connection)) throw server_full();
  if (done) connection.call.body = reader.take_body();
  return done;
}

/// Sends an answer without a stream.
void Http::send(Connection& connection, Reply reply, bool close) {
  connection.close_after = close;
  ResponseHead head{reply.status, reply.type, std::move(reply.headers), reply.body.size()};
  head.keep_alive = !close, head.http_1_0 = connection.call_http_1_0;
  connection.out = text_of(head);
  if (!connection.is_head) connection.out += reply.body;
  connection.state = Connection::State::writing;
  connection.since = Clock::now();
  connection.deadline = connection.since + limits_.write;
  flush(connection);
}

void Http::flush(Connection& connection) {
  const std::size_t before = connection.sent;
  if (!connection.send_some()) return close(connection);
  if (connection.out.empty()) return finish_answer(connection);
  // A client that reads slowly gets more time, though not without end.
  if (connection.sent > before) connection.deadline += milliseconds((connection.sent - before) / kExpected);
  watch(connection, EPOLLOUT);
}

/// Sends the rest of an answer, and reads the next request, which may have arrived with the last one.
void Http::resume(Connection& connection) {
  const int file = connection.socket;
  flush(connection);
  const auto found = connections_.find(file);
  if (found != connections_.end() && found->second->state == Connection::State::reading && !stopped_)
    advance(*found->second);
}

/// The answer is sent: the connection waits for the next request, or is closed.
void Http::finish_answer(Connection& connection) {
  buffered_ -= connection.size;
  connection.size = 0;
  connection.call = {};
  if (connection.close_after || connection.extra) return begin_closing(connection);
  connection.head_checked = connection.probed = connection.stream_begun = false;
  connection.reader.next();
  connection.state = Connection::State::reading;
  connection.served = true;
  connection.since = Clock::now();
  connection.deadline = connection.since + (connection.reader.idle() ? limits_.idle : limits_.head);
  watch(connection, EPOLLIN);
}

/// Reads what the client is still sending. Otherwise the system would reset the connection, and the answer be lost.
void Http::begin_closing(Connection& connection) {
  ::shutdown(connection.socket, SHUT_WR);
  connection.state = Connection::State::closing;
  connection.since = Clock::now();
  connection.deadline = connection.since + kClosing;
  watch(connection, EPOLLIN);
}

/// Takes the connections whose requests the workers have answered.
void Http::take_back() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t read = ::read(wake_, &count, sizeof count);
  std::vector<Connection*> answered;
  {
    const std::lock_guard lock(mutex_);
    answered.swap(answered_);
  }
  for (Connection* connection : answered) {
    if (connection->broken) {
      close(*connection);
      continue;
    }
    connection->state = Connection::State::writing;
    connection->since = Clock::now();
    connection->deadline = connection->since + limits_.write;
    protect(connection->socket, [&] { resume(*connection); });
  }
}

void Http::work(Connection& connection) {
  try {
    answer(connection);
  } catch (const std::exception&) {  // such as out of memory: only this client is affected
    connection.broken = true;
  }
  const std::lock_guard lock(mutex_);
  answered_.push_back(&connection);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

void Http::answer(Connection& connection) {
  connection.call.hung_up = [&connection] { return connection.hung_up(); };
  Reply reply = api_.answer(connection.call);
  const bool close = !connection.reader.head().keep_alive || stopped_;
  ResponseHead head{reply.status, reply.type, std::move(reply.headers), reply.body.size()};
  head.http_1_0 = connection.call_http_1_0;
  head.until_close = reply.stream && head.http_1_0;
  head.chunked = reply.stream && !head.http_1_0;
  head.keep_alive = !close && !head.until_close;
  connection.close_after = !head.keep_alive;
  const std::string text = text_of(head);
  if (!reply.stream || connection.is_head) {
    connection.out = text;
    if (!connection.is_head) connection.out += reply.body;
    connection.broken = !connection.send_some();  // the rest is sent by the thread of run()
    return;
  }
  // The client gets the head with the first part.
  connection.chunked = head.chunked;
  connection.events = reply.type.starts_with("text/event-stream");
  milliseconds waited{0};
  const auto write = [&](const std::string& part) {
    connection.out = (connection.stream_begun ? "" : text) + part;
    connection.stream_begun = true;
    while (!connection.broken) {
      const std::size_t before = connection.out.size() - connection.sent;
      connection.broken = !connection.send_some();
      // As in flush(): a client that reads slowly gets more time.
      const std::size_t sent = before - (connection.out.size() - connection.sent);
      waited -= std::min(waited, milliseconds(sent / kExpected));
      if (connection.out.empty() || connection.broken) break;
      const auto begin = Clock::now();
      pollfd wanted{connection.socket, POLLOUT, 0};
      ::poll(&wanted, 1, 100);
      waited += std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
      const milliseconds longest = hurried_ ? kHurry : crowded_ ? std::min(kGrace, limits_.write) : limits_.write;
      connection.broken = (wanted.revents & (POLLERR | POLLHUP)) != 0 || waited > longest;
    }
    if (connection.broken) connection.out.clear();
    return !connection.broken;
  };
  const auto framed = [&](std::string_view part) {
    if (!head.chunked) return std::string(part);
    std::array<char, 20> size{};
    return std::string(size.data(),
                       static_cast<std::size_t>(std::snprintf(size.data(), size.size(), "%zx\r\n", part.size()))) +
           std::string(part) + "\r\n";
  };
  reply.stream([&](std::string_view part) {
    return !connection.broken && (part.empty() || (!connection.hung_up() && write(framed(part))));
  });
  if (!connection.broken) write(head.chunked ? "0\r\n\r\n" : "");
}

}  // namespace attend::serve
