// SmolLM3 (Hugging Face 2025; SmolLM3ForCausalLM): Llama, in which some layers have no rotary positions (Yang et al.
// 2025, "RNoPE").
#include "attend/core/error.h"
#include "attend/models/bounds.h"
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

void read_smollm3(const Config& config, CausalLmOptions& o) {
  o.vocabulary = 128256, o.width = 2048, o.inner = 11008, o.layers = 36, o.heads = 16, o.kv_heads = 4;
  o.positions = 32768, o.start = 128000, o.ends = {128001}, o.tied_output = true;
  o.rotary = {.theta = 2000000};
  read_causal_lm_keys(config, o);
  o.attention_bias = o.attention_output_bias = config.flag("attention_bias", false);
  o.feed_forward_bias = config.flag("mlp_bias", false);
  // Despite its name, "no_rope_layers" has a 1 for each layer with rotary positions.
  const std::vector<std::int64_t> listed = config.integers("no_rope_layers");
  if (!listed.empty() && std::ssize(listed) != o.layers)
    fail<InputError>("smollm3", "config.json: \"no_rope_layers\" has ", listed.size(), " entries, expected ", o.layers);
  const std::int64_t every = config.integer_in("no_rope_layer_interval", 1, bounds::kLayers, 4);
  for (std::int64_t i = 0; i < o.layers; ++i)
    o.rotates.push_back(listed.empty() ? (i + 1) % every != 0 : listed[static_cast<std::size_t>(i)] != 0);
  read_windows(config, o, 0, [](const Config&, std::int64_t) { return false; });
  // Without "layer_types", the layers without rotary positions have the window.
  if (config.has("layer_types") || !config.flag("use_sliding_window", false) || !config.has("sliding_window")) return;
  for (std::size_t i = 0; i < o.windows.size(); ++i)
    if (!o.rotates[i]) o.windows[i] = config.integer_in("sliding_window", 1, bounds::kPositions) - 1;
}

void write_smollm3(const CausalLmOptions& o, Config& config) {
  write_causal_lm_keys(o, config);
  config.set("attention_bias", o.attention_bias), config.set("mlp_bias", o.feed_forward_bias);
  std::vector<std::int64_t> rotates(static_cast<std::size_t>(o.layers), 1);
  for (std::size_t i = 0; i < o.rotates.size(); ++i) rotates[i] = o.rotates[i];
  config.set("no_rope_layers", rotates);
  write_windows(o, config, true);
}

}  // namespace

const CausalLmFamily kSmolLm3 = {.type = "smollm3",
                                 .class_name = "SmolLM3",
                                 .read = read_smollm3,
                                 .write = write_smollm3,
                                 .names = {.block = kLlamaBlock}};

}  // namespace attend
