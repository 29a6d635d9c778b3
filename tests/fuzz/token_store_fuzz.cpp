// Any bytes either open as a token store, all of whose documents can be read or are damaged, or give an InputError.
#include <cstdint>

#include "attend/core/error.h"
#include "attend/data/token_store.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const attend::TokenStore store("fuzz", std::as_bytes(std::span(data, size)), nullptr);
    for (std::int64_t d = 0; d < store.documents(); ++d) {
      try {
        for (const std::int32_t id : store.read(store.document(d)))
          if (id < 0 || id >= store.vocabulary()) __builtin_trap();
      } catch (const attend::InputError&) {
      }
    }
    for (const bool across : {true, false}) {
      const attend::TokenWindows windows(store, 3, across);
      for (std::int64_t i = 0; i < windows.size(); ++i)
        if (windows[i].size() < 2 || windows[i].size() > 4 || windows[i].end > store.size()) __builtin_trap();
    }
  } catch (const attend::InputError&) {
  }
  return 0;
}
