// Llama (Touvron et al. 2023; Hugging Face's LlamaForCausalLM), 2 and 3, and the many models with its shape, such as
// SmolLM2: RMS norms, rotary positions, gated feed-forward networks, grouped key and value heads.
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

void read_llama(const Config& config, CausalLmOptions& o) {
  o.vocabulary = 32000, o.width = 4096, o.inner = 11008, o.layers = 32, o.heads = 32, o.positions = 2048;
  o.start = 1, o.ends = {2};
  read_causal_lm_keys(config, o);
  o.attention_bias = o.attention_output_bias = config.flag("attention_bias", false);
  o.feed_forward_bias = config.flag("mlp_bias", false);
}

void write_llama(const CausalLmOptions& o, Config& config) {
  write_causal_lm_keys(o, config);
  config.set("attention_bias", o.attention_bias), config.set("mlp_bias", o.feed_forward_bias);
}

}  // namespace

const CausalLmFamily kLlama = {
    .type = "llama", .class_name = "Llama", .read = read_llama, .write = write_llama, .names = {.block = kLlamaBlock}};

}  // namespace attend
