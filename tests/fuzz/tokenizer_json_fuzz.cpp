// Any bytes either are a tokenizer.json, whose tokenizer works and can be written and read again, or give an
// InputError.
#include <cstdint>

#include "attend/text/tokenizer_json.h"
#include "tests/fuzz/tokenizer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Tokenizer tokenizer(read_tokenizer_json(text, "fuzz"));
    fuzz::use(tokenizer);
    read_tokenizer_json(write_tokenizer_json(tokenizer.parts()), "written");
  } catch (const InputError&) {
  }
  return 0;
}
