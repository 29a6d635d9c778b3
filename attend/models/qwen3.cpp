// Qwen3 (Yang et al. 2025; Hugging Face's Qwen3ForCausalLM): Llama with norms of the queries and keys of each head.
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

void read_qwen3(const Config& config, CausalLmOptions& o) {
  o.vocabulary = 151936, o.width = 4096, o.inner = 22016, o.layers = 32, o.heads = 32, o.kv_heads = 32;
  o.head_dim = 128, o.positions = 32768, o.start = 151643, o.ends = {151645};
  o.head_norm = true;
  read_causal_lm_keys(config, o);
  o.attention_bias = o.attention_output_bias = config.flag("attention_bias", false);
  read_windows(config, o, 4096, is_qwen_window);
}

void write_qwen3(const CausalLmOptions& o, Config& config) {
  write_causal_lm_keys(o, config);
  config.set("attention_bias", o.attention_bias);
  write_windows(o, config, true);
}

constexpr BlockNames kQwen3Block = [] {
  BlockNames names = kLlamaBlock;
  names.self.query_norm = "self_attn.q_norm", names.self.key_norm = "self_attn.k_norm";
  return names;
}();

}  // namespace

const CausalLmFamily kQwen3 = {
    .type = "qwen3", .class_name = "Qwen3", .read = read_qwen3, .write = write_qwen3, .names = {.block = kQwen3Block}};

}  // namespace attend
