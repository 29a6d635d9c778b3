// The error that a request is answered with: an HTTP status, a code for programs and a message for people.
#pragma once
#include <string>

#include "attend/core/error.h"

namespace attend::serve {

class ApiError : public Error {
 public:
  ApiError(int status, std::string code, const std::string& message, std::string param = {})
      : Error(message), status(status), code(std::move(code)), param(std::move(param)) {}

  int status;           ///< HTTP status
  std::string code;     ///< such as invalid_json or missing_field; docs/serving.md lists them
  std::string param;    ///< the wrong field of the request, or empty
  int retry_after = 0;  ///< seconds until the client may try again; 0: not known
  std::string allow;    ///< the method that the path takes, of a 405
};

inline ApiError invalid_value(const std::string& param, const std::string& message) {
  return {400, "invalid_value", message, param};
}

inline ApiError shutting_down() {
  ApiError error(503, "shutting_down", "the server is shutting down");
  error.retry_after = 5;
  return error;
}

}  // namespace attend::serve
