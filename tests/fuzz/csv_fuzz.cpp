// Any bytes as comma-separated values.
#include "tests/fuzz/read_corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  return fuzz::read_corpus([&] { return read_csv(TextStream::of(fuzz::text_of(data, size))); });
}
