// Any bytes either are a vocab.json and, after a zero, a merges.txt, whose tokenizer works, or give an InputError.
#include <cstdint>

#include "attend/core/json.h"
#include "attend/text/tokenizer_json.h"
#include "attend/text/vocabulary_files.h"
#include "tests/fuzz/tokenizer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t zero = text.find('\0');
    const JsonDocument document(text.substr(0, zero), "vocab.json", "tokenizer");
    Tokenizer::Parts parts;
    parts.model =
        read_merges(zero == text.npos ? "" : text.substr(zero + 1), "merges.txt", read_vocabulary(document.root()));
    parts.pre_tokenizer = {pre_tokenizer::ByteLevel{}};
    parts.decoder = {decoder::ByteLevel{}};
    fuzz::use(Tokenizer(std::move(parts)));
  } catch (const InputError&) {
  }
  return 0;
}
