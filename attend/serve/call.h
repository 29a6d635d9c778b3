// A request and its answer, without sockets: what HTTP carries to and from the API.
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
  std::map<std::string, std::string> query = {};  ///< and the fields of a form
  std::string body = {}, content_type = {};
  std::string authorization = {};      ///< the header
  std::function<bool()> hung_up = {};  ///< whether nobody waits for the answer any more
};

struct Reply {
  /// Writes a part of the answer at once; false when nobody reads any more.
  using Write = std::function<bool(std::string_view)>;

  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::function<void(const Write&)> stream = {};  ///< in place of the body; does not throw
};

}  // namespace attend::serve
