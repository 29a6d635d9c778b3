// What is wrong with one of many texts.
#pragma once
#include <cstddef>
#include <string>

#include "attend/core/error.h"

namespace attend {

/// A text that a model cannot take as the options say.
class TextError : public InputError {
 public:
  TextError(std::size_t text, const std::string& message) : InputError(message), text(text) {}
  std::size_t text;  ///< which of them
};

}  // namespace attend
