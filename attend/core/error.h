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

/// Throws Error("[where] " + parts…). Anything that prints to a stream can be a part.
/// fail("linear", "the input does not fit the weight: got x ", x.shape(), ", expected [..., ", in, "]");
template <typename... Parts>
[[noreturn]] void fail(std::string_view where, const Parts&... parts) {
  std::ostringstream message;
  message << '[' << where << "] ";
  (message << ... << parts);
  throw Error(message.str());
}

}  // namespace attend
