// HTTP/1.1 by cpp-httplib, over connections of our own: they have a time and a size for each request, and know when the
// other side has hung up.
#pragma once
#include <httplib.h>

#include <functional>

#include "attend/serve/call.h"

namespace attend::serve {

struct HttpLimits {
  std::size_t body = 8 << 20;        ///< bytes of a request's body
  std::size_t head = 64 << 10;       ///< bytes of all before it
  std::chrono::seconds request{30};  ///< for a request to arrive
  std::chrono::seconds write{30};    ///< for a client to take some of the answer
  std::chrono::seconds idle{10};     ///< between the requests of a connection
  std::size_t connections = 256;
};

class Http : public httplib::Server {
 public:
  Http(const HttpLimits& limits, std::function<Reply(const Call&)> answer);
  /// Gives the port, or throws InputError when it cannot be had.
  int bind(const std::string& host, int port);

 private:
  bool process_and_close_socket(socket_t socket) override;
  HandlerResponse check(const httplib::Request& request, httplib::Response& response) const;
  void handle(const httplib::Request& request, httplib::Response& response) const;

  HttpLimits limits_;
  std::function<Reply(const Call&)> answer_;
};

}  // namespace attend::serve
