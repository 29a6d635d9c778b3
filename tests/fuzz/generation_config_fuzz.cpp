// Any bytes either are a generation_config.json, whose options can be written and read again, or give an InputError.
#include "attend/decode/generation_config.h"

#include <cstdint>
#include <cstdlib>

#include "attend/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  try {
    const auto read = GenerationConfig::read(Config::parse({reinterpret_cast<const char*>(data), size}, "fuzz"));
    const std::string written = read.write().dump();
    if (GenerationConfig::read(Config::parse(written, "written")).write().dump() != written) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
