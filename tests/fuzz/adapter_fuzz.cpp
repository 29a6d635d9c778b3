// Any bytes as the folder of an adapter: adapter_config.json, a zero byte, and adapter_model.safetensors. Either it can
// be attached to a model and merged into its weights, or it gives an Error.
#include <cstdint>
#include <fstream>
#include <span>
#include <string_view>

#include "attend/core/error.h"
#include "attend/models/adapter.h"
#include "attend/models/causal_lm.h"
#include "tests/support/temp_folder.h"

namespace {

using namespace attend;

/// A model with separate projections, and two whose folders join them in different orders.
CausalLm small_model(const CausalLmFamily& family) {
  CausalLmOptions o = CausalLmOptions::of(family);
  o.vocabulary = o.positions = 8, o.width = 8, o.inner = 6, o.heads = 2, o.layers = 1, o.start = 0, o.ends = {0};
  return CausalLm(o);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::TempFolder folder;
  static const CausalLm models[] = {small_model(kLlama), small_model(kPhi3), small_model(kGptNeox)};
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\0'), size), begin = std::min(end + 1, size);
  std::ofstream(folder / "adapter_config.json") << all.substr(0, end);
  std::ofstream(folder / "adapter_model.safetensors") << all.substr(begin);
  try {
    const AdapterFolder adapter(folder.path());
    for (const CausalLm& base : models) {
      try {
        CausalLm model = base;
        adapter.attach(model);
        constexpr std::int32_t kIds[] = {1, 2};
        const std::span<const std::int32_t> text(kIds);
        CausalLmState state;
        model.start(std::span(&text, 1), state);
        merge_adapters(model);
      } catch (const Error&) {
      }
    }
    adapter.base();
  } catch (const Error&) {
  }
  return 0;
}
