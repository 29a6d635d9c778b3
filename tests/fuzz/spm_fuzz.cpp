// Any bytes either are a SentencePiece model, with which the library can encode, or give an InputError before the
// library could be led astray.
#include <cstdint>

#include "attend/text/sentencepiece.h"
#include "tests/fuzz/tokenizer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  try {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    Tokenizer::Parts parts;
    parts.model = SentencePiece({"<unk>", "</s>", "a", "\u2581a", "b", ">>fr<<"}, bytes, bytes, "fuzz");
    parts.decoder = {decoder::SentencePiece{{"</s>"}}};
    fuzz::use(Tokenizer(std::move(parts)));
  } catch (const InputError&) {
  }
  return 0;
}
