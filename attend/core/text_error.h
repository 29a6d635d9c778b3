// The error of one text among many.
#pragma once
#include <cstddef>
#include <string>

#include "attend/core/error.h"

namespace attend {

/// A text that a model cannot take with the given options: too long, say. The caller that knows where the texts come
/// from can name the line.
class TextError : public InputError {
 public:
  TextError(std::size_t text, const std::string& message) : InputError(message), text(text) {}
  std::size_t text;  ///< index of the text in the call
};

}  // namespace attend
