// Qwen2 and Qwen2.5 (Yang et al. 2024; Hugging Face's Qwen2ForCausalLM): Llama with biases of queries, keys and values.
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

void read_qwen2(const Config& config, CausalLmOptions& o) {
  o.vocabulary = 151936, o.width = 4096, o.inner = 22016, o.layers = 32, o.heads = 32, o.kv_heads = 32;
  o.positions = 32768, o.start = 151643, o.ends = {151643};
  read_causal_lm_keys(config, o);
  o.attention_bias = true;
  read_windows(config, o, 4096, is_qwen_window);
}

void write_qwen2(const CausalLmOptions& o, Config& config) {
  write_causal_lm_keys(o, config);
  write_windows(o, config, true);
}

}  // namespace

/// The layers from "max_window_layers" on have a window, if "use_sliding_window" is set.
bool is_qwen_window(const Config& config, std::int64_t layer) {
  return config.flag("use_sliding_window", false) && layer >= config.integer("max_window_layers", 28);
}

const CausalLmFamily kQwen2 = {
    .type = "qwen2", .class_name = "Qwen2", .read = read_qwen2, .write = write_qwen2, .names = {.block = kLlamaBlock}};

}  // namespace attend
