// Any bytes either are the config.json of a model, whose options can be read, or give an InputError. The first byte
// chooses a model_type, so that inputs without one reach the families too.
#include <cstdint>
#include <cstdlib>

#include "attend/core/error.h"
#include "attend/models/bert.h"
#include "attend/models/causal_lm.h"
#include "attend/models/decomposable_attention.h"
#include "attend/models/esim.h"
#include "attend/models/hierarchical_classifier.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/transformer.h"

namespace {

using namespace attend;

template <typename Options>
void read(const Config& config) {
  try {
    Options::read(config);
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr const char* kTypes[] = {
      "marian",      "attend-transformer", "bart",    "t5",    "bert",   "roberta",   "distilbert",
      "xlm-roberta", "camembert",          "electra", "mpnet", "albert", "modernbert"};
  if (size == 0) return 0;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    Config config = Config::parse(text.substr(text[0] == '{' ? 0 : 1), "fuzz");
    if (text[0] != '{') config.set("model_type", kTypes[data[0] % std::size(kTypes)]);
    read<TransformerOptions>(config), read<BertOptions>(config), read<CausalLmOptions>(config);
    read<RecurrentTranslatorOptions>(config), read<RecurrentClassifierOptions>(config), read<EsimOptions>(config);
    read<DecomposableAttentionOptions>(config), read<HierarchicalClassifierOptions>(config);
    const std::string written = config.dump();
    if (Config::parse(written, "written").dump() != written) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
