// An error that is about one text of a call with several texts.
#pragma once
#include <cstddef>
#include <string>

#include "attend/core/error.h"

namespace attend {

/// Thrown if a model cannot process a text with the given options, for example because it is too long. A caller that
/// read the texts from a file can report the line.
class TextError : public InputError {
 public:
  TextError(std::size_t text, const std::string& message) : InputError(message), text(text) {}
  std::size_t text;  ///< index of the text in the call
};

}  // namespace attend
