// Reading every tensor of a file of weights, for the fuzzers of their formats.
#pragma once
#include <cstdint>

#include "attend/core/error.h"
#include "attend/core/tensor.h"

namespace attend::fuzz {

/// Any bytes either open as a File, all of whose tensors can be read, or give an Error.
template <typename File>
int read_all(const std::uint8_t* data, std::size_t size) {
  try {
    const File file("fuzz", std::as_bytes(std::span(data, size)), nullptr);
    for (const std::string& name : file.names()) {
      try {
        const Tensor x = file.get_float32(name);
        volatile float sum = 0;  // touch every element, so that the sanitizer sees where they are
        for (const float value : x.span()) sum = sum + value;
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace attend::fuzz
