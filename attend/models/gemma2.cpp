// Gemma 2 (Gemma Team 2024; Hugging Face's Gemma2ForCausalLM): norms before and after each sub-layer with gains 1 + w,
// scaled embeddings, caps on attention scores and logits, and windows in every second layer.
#include <cmath>

#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

constexpr const char *kScalar = "query_pre_attn_scalar", *kScoreCap = "attn_logit_softcapping",
                     *kLogitCap = "final_logit_softcapping";

void read_gemma2(const Config& config, CausalLmOptions& o) {
  o.vocabulary = 256000, o.width = 2304, o.inner = 9216, o.layers = 26, o.heads = 8, o.kv_heads = 4, o.head_dim = 256;
  o.positions = 8192, o.start = 2, o.ends = {1}, o.tied_output = true, o.activation = Activation::gelu_tanh;
  o.norm.unit_offset = o.output_norm = o.scale_embedding = true;
  read_causal_lm_keys(config, o);
  o.attention_bias = o.attention_output_bias = config.flag("attention_bias", false);
  o.score_scalar = static_cast<double>(config.integer_in(kScalar, 1, bounds::kWidth, 256));
  // null: no cap
  const auto cap = [&](const char* key, double otherwise) {
    return config.is_null(key) ? 0.f : config.positive(key, otherwise);
  };
  o.score_cap = cap(kScoreCap, 50.0), o.logit_cap = cap(kLogitCap, 30.0);
  require_flag(config, "use_bidirectional_attention", false);
  read_windows(config, o, 4096, [](const Config&, std::int64_t layer) { return layer % 2 == 0; });
}

void write_gemma2(const CausalLmOptions& o, Config& config) {
  write_causal_lm_keys(o, config);
  config.set("hidden_activation", name_of(o.activation, kActivationNames));
  config.set("attention_bias", o.attention_bias);
  // transformers expects a whole number.
  config.set(kScalar,
             static_cast<std::int64_t>(std::lround(o.score_scalar.value_or(static_cast<double>(o.head_width())))));
  for (const auto& [key, cap] : {std::pair{kScoreCap, o.score_cap}, {kLogitCap, o.logit_cap}})
    cap > 0 ? config.set(key, cap) : config.set_null(key);
  write_windows(o, config, true);
}

constexpr BlockNames kGemma2Block = [] {
  BlockNames names = kLlamaBlock;
  names.self.output_norm = "post_attention_layernorm";
  names.feed_forward_norm = "pre_feedforward_layernorm";
  names.feed_forward_output_norm = "post_feedforward_layernorm";
  return names;
}();

}  // namespace

const CausalLmFamily kGemma2 = {.type = "gemma2",
                                .class_name = "Gemma2",
                                .read = read_gemma2,
                                .write = write_gemma2,
                                .names = {.block = kGemma2Block}};

}  // namespace attend
