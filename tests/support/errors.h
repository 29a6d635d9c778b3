// Checks of error messages. Users read them, so they are part of the interface.
#pragma once
#include <string>

#include "attend/core/error.h"

namespace attend::test {

/// The message of the Error that f() throws; "" if it throws none.
template <typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace attend::test

/// Expects an attend::Error whose message contains `text`.
#define EXPECT_ERROR(statement, text)                                                            \
  do {                                                                                           \
    const std::string message_ = ::attend::test::error_of([&] { (void)(statement); });           \
    EXPECT_NE(message_.find(text), std::string::npos) << "the error was: \"" << message_ << '"'; \
  } while (false)
