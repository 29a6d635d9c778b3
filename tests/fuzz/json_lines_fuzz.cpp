// Any bytes as JSON lines.
#include "tests/fuzz/read_corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  return fuzz::read_corpus([&] { return read_json_lines(TextStream::of(fuzz::text_of(data, size)), {"s", "t.x"}); });
}
