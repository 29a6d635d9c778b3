#include "attend/formats/safetensors.h"

#include "tests/fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return attend::fuzz::read_all<attend::SafetensorsFile>(data, size);
}
