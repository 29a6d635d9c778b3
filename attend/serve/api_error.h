// What a request gets when it cannot be answered: a status, a code for programs and a message for people.
#pragma once
#include <string>

#include "attend/core/error.h"

namespace attend::serve {

class ApiError : public Error {
 public:
  ApiError(int status, std::string code, const std::string& message, std::string param = {})
      : Error(message), status(status), code(std::move(code)), param(std::move(param)) {}

  int status;           ///< of HTTP
  std::string code;     ///< invalid_json, missing_field, …: docs/serving.md lists them
  std::string param;    ///< the field that is wrong, or empty
  int retry_after = 0;  ///< seconds; 0: not said
};

inline ApiError invalid_value(const std::string& param, const std::string& message) {
  return {400, "invalid_value", message, param};
}

inline ApiError shutting_down() {
  ApiError error(503, "shutting_down", "the server is about to end");
  error.retry_after = 5;
  return error;
}

}  // namespace attend::serve
