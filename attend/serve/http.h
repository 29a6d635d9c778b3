// The sockets of the server. One thread accepts connections and reads requests; a worker thread gets a request when it
// is complete and keeps it until it is answered. So connections that are idle, half open or slow to send take no
// worker.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "attend/serve/api.h"
#include "attend/serve/http_message.h"
#include "attend/serve/worker_pool.h"

namespace attend::serve {

struct HttpLimits {
  MessageLimits message = {};
  std::size_t connections = 256;             ///< open connections, and requests that are answered at the same time
  std::size_t buffered = 256 << 20;          ///< bytes of all requests that are being read or answered
  std::chrono::milliseconds head{10000};     ///< time for the headers of a request to arrive
  std::chrono::milliseconds request{30000};  ///< time for a request to arrive
  std::chrono::milliseconds write{30000};    ///< time that a client may keep an answer waiting
  std::chrono::milliseconds idle{60000};     ///< time between two requests of a connection
  std::chrono::milliseconds surplus{10000};  ///< time after which worker threads end that were not needed
};

class Http {
 public:
  Http(const HttpLimits& limits, Api& api);
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  /// Takes the port and returns it. Throws InputError when it is taken.
  int bind(const std::string& host, int port);
  /// Answers requests until stop().
  void run();
  /// From now on, a client that does not read its answer is given up after two seconds.
  void hurry() { hurried_ = true; }
  /// Ends run(), within five seconds if the API answers. May be called from any thread, before run() too.
  void stop();

 private:
  struct Connection;
  using Clock = std::chrono::steady_clock;

  // In the thread of run():
  template <typename Step>
  void protect(int file, const Step& step);
  void handle(int file);
  void watch_for_new();
  void accept_all();
  void receive(Connection& connection);
  void advance(Connection& connection);
  bool take_request(Connection& connection);
  void send(Connection& connection, Reply reply, bool close);
  void flush(Connection& connection);
  void resume(Connection& connection);
  void give_to_worker(Connection& connection);
  void finish_answer(Connection& connection);
  void begin_closing(Connection& connection);
  void take_back();
  bool make_room(bool only_with_bytes, const Connection* spare);
  void close_oldest_extra();
  void close_late_ones();
  void close(Connection& connection);
  void watch(Connection& connection, unsigned events);
  void drain();

  // In the threads of workers:
  void work(Connection& connection);
  void answer(Connection& connection);

  HttpLimits limits_;
  Api& api_;
  int listening_ = -1, poll_ = -1, wake_ = -1;
  bool accepting_ = false;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
  std::size_t buffered_ = 0;
  std::atomic<bool> stopped_ = false, hurried_ = false;
  std::atomic<bool> crowded_ = false;  // all connections are taken

  std::mutex mutex_;
  std::vector<Connection*> answered_;  // connections that the workers give back
  WorkerPool workers_;
};

}  // namespace attend::serve
