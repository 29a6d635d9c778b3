// The one exception of the library, and the helper that words it: `[where] what went wrong: got …, expected …; hint`.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attend {

/// Everything that the library reports as failed. The message is complete: print it as it is.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An Error whose cause is what the user gave: a garbled file, an option that does not fit. The program exits with 2
/// for it, and with 1 for every other Error.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Throws Kind("[where] " + parts…). Anything that prints to a stream can be a part.
/// fail("linear", "the input does not fit the weight: got x ", x.shape(), ", expected [..., ", in, "]");
template <typename Kind = Error, typename... Parts>
[[noreturn]] void fail(std::string_view where, const Parts&... parts) {
  std::ostringstream message;
  message << '[' << where << "] ";
  (message << ... << parts);
  throw Kind(message.str());
}

}  // namespace attend
