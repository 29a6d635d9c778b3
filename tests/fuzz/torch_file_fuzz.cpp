// Any bytes either open as a file of PyTorch's, all of whose tensors can be read, or give an attend::Error.
#include <cstdint>

#include "attend/core/error.h"
#include "attend/formats/torch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const attend::TorchFile file("fuzz", std::as_bytes(std::span(data, size)), nullptr);
    for (const std::string& name : file.names()) {
      try {
        const attend::Tensor x = file.get_float32(name);
        volatile float sum = 0;  // touch every element, so that the sanitizer sees where they are
        for (const float value : x.span()) sum = sum + value;
      } catch (const attend::Error&) {
      }
    }
  } catch (const attend::Error&) {
  }
  return 0;
}
