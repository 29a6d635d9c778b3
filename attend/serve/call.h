// A request and its answer, independent of sockets.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend::serve {

struct Call {
  std::string method = "GET", path = "/";
  std::map<std::string, std::string> query = {};  ///< of the URL
  std::string body = {}, content_type = {};
  std::string authorization = {};  ///< the header
  std::string host = {};           ///< the header; empty if a client of HTTP/1.0 does not send it
  std::string origin = {};         ///< the header, which browsers send
  std::string requested_method = {}, requested_headers = {};  ///< of a browser that asks first (a CORS preflight)
  std::function<bool()> hung_up = {};                         ///< whether the client has closed the connection
};

struct Reply {
  /// Sends a part of the answer; false when the client has closed the connection.
  using Write = std::function<bool(std::string_view)>;

  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::function<void(const Write&)> stream = {};  ///< instead of the body; breaks off if it throws
};

}  // namespace attend::serve
