// Mistral 7B (Jiang et al. 2023; Hugging Face's MistralForCausalLM): Llama with attention in a sliding window.
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

void read_mistral(const Config& config, CausalLmOptions& o) {
  o.vocabulary = 32000, o.width = 4096, o.inner = 14336, o.layers = 32, o.heads = 32, o.kv_heads = 8;
  o.positions = 131072, o.start = 1, o.ends = {2};
  read_causal_lm_keys(config, o);
  read_windows(config, o, 4096, [](const Config&, std::int64_t) { return true; });
}

void write_mistral(const CausalLmOptions& o, Config& config) {
  write_causal_lm_keys(o, config);
  write_windows(o, config, false);
}

}  // namespace

const CausalLmFamily kMistral = {.type = "mistral",
                                 .class_name = "Mistral",
                                 .read = read_mistral,
                                 .write = write_mistral,
                                 .names = {.block = kLlamaBlock}};

}  // namespace attend
