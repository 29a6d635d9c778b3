// HTTP/1.1 with cpp-httplib. Its connections are our own class: they limit the time and the size of each request, and
// notice when the client has closed the connection.
#pragma once
#include <httplib.h>

#include <functional>

#include "attend/serve/call.h"

namespace attend::serve {

struct HttpLimits {
  std::size_t body = 8 << 20;        ///< largest body of a request, in bytes
  std::size_t head = 64 << 10;       ///< largest request line and headers, in bytes
  std::chrono::seconds request{30};  ///< time for a request to arrive
  std::chrono::seconds write{30};    ///< time for a client to accept a part of the answer
  std::chrono::seconds idle{10};     ///< time between two requests of a connection
  std::size_t connections = 256;
};

class Http : public httplib::Server {
 public:
  Http(const HttpLimits& limits, std::function<Reply(const Call&)> answer);
  /// Returns the port. Throws InputError when it is taken.
  int bind(const std::string& host, int port);

 private:
  bool process_and_close_socket(socket_t socket) override;
  HandlerResponse check(const httplib::Request& request, httplib::Response& response) const;
  void handle(const httplib::Request& request, httplib::Response& response) const;

  HttpLimits limits_;
  std::function<Reply(const Call&)> answer_;
};

}  // namespace attend::serve
