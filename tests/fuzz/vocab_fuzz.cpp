// Any bytes either are a vocab.txt, whose WordPiece works, or give an InputError.
#include <cstdint>

#include "attend/text/vocabulary_files.h"
#include "tests/fuzz/tokenizer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  try {
    Tokenizer::Parts parts;
    parts.model = WordPiece(read_vocab_txt({reinterpret_cast<const char*>(data), size}, "vocab.txt"));
    parts.normalizer = {normalizer::Bert{}};
    parts.pre_tokenizer = {pre_tokenizer::Bert{}};
    parts.decoder = {decoder::WordPiece{}};
    fuzz::use(Tokenizer(std::move(parts)));
  } catch (const InputError&) {
  }
  return 0;
}
