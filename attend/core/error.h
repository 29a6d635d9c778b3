// The exceptions of the library, and fail(), which throws them. A message has the form
// `[where] what went wrong: got …, expected …; hint`.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attend {

/// Base class of all errors of the library. The message is complete and can be printed as it is.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An Error caused by user input, for example a corrupt file or an invalid option. The program exits with status 2 for
/// it, and with status 1 for every other Error.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Throws Kind("[where] " + parts…). A part can be anything that has an operator<< for streams. Example:
/// fail("linear", "the input does not fit the weight: got x ", x.shape(), ", expected [..., ", in, "]");
template <typename Kind = Error, typename... Parts>
[[noreturn]] void fail(std::string_view where, const Parts&... parts) {
  std::ostringstream message;
  message << '[' << where << "] ";
  (message << ... << parts);
  throw Kind(message.str());
}

}  // namespace attend
