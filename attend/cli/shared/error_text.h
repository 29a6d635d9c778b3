// How the program prints errors that the user caused.
#pragma once
#include <string>

#include "attend/core/error.h"

namespace attend::cli {

/// The message without the `[where]` at its beginning. It names a part of the library, which helps to find a defect,
/// but says nothing to a user whose input is wrong.
inline std::string text_of(const InputError& error) {
  std::string text = error.what();
  if (const std::size_t end = text.find("] "); text.starts_with('[') && end != text.npos) text.erase(0, end + 2);
  return text;
}

}  // namespace attend::cli
