// Any bytes either are a GGUF file, whose configuration, tensors and tokenizer can be read and used, or give an Error.
#include "attend/formats/gguf_file.h"

#include "attend/models/causal_lm.h"
#include "attend/models/gguf_model.h"
#include "tests/fuzz/read_all.h"
#include "tests/fuzz/tokenizer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  const auto attempt = [](auto&& read) {
    try {
      read();
    } catch (const Error&) {
    }
  };
  fuzz::read_all<GgufFile>(data, size);
  attempt([&] {
    const GgufFile file("fuzz", std::as_bytes(std::span(data, size)), nullptr);
    attempt([&] { fuzz::use(gguf_tokenizer(file.metadata())); });
    attempt([&] {
      const Config config = gguf_config(file);
      const CausalLmOptions options = CausalLmOptions::read(config);
      constexpr std::int32_t kIds[] = {0};
      const CausalLm model = load_causal_lm(config, gguf_weights(file), *options.family, /*mapped=*/true);
      const std::span<const std::int32_t> text(kIds);
      CausalLmState state;
      model.start(std::span(&text, 1), state);
    });
  });
  return 0;
}
