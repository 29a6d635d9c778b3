// GPT-NeoX (Black et al. 2022; Hugging Face's GPTNeoXForCausalLM) and Pythia: layer norms, parallel sub-layers, rotary
// positions for a part of each head, biases. Queries, keys and values are stored in one matrix, head by head.
#include <array>

#include "attend/models/causal_lm.h"

namespace attend {
namespace {

void read_gpt_neox(const Config& config, CausalLmOptions& o) {
  o.vocabulary = 50432, o.width = 6144, o.inner = 24576, o.layers = 44, o.heads = 64, o.positions = 2048;
  o.start = 0, o.ends = {2}, o.activation = Activation::gelu, o.gated = false;
  o.norm = {.kind = NormKind::layer_norm, .eps = 1e-5f};
  // The keys of older folders.
  o.rotary = {.theta = config.number("rotary_emb_base", 10000.0), .partial = config.number("rotary_pct", 0.25)};
  read_causal_lm_keys(config, o);
  o.dropout = config.probability("hidden_dropout", o.dropout), o.embedding_dropout = o.dropout;
  o.parallel = config.flag("use_parallel_residual", true);
  o.attention_bias = o.attention_output_bias = config.flag("attention_bias", true);
  o.feed_forward_bias = true;
}

void write_gpt_neox(const CausalLmOptions& o, Config& config) {
  write_causal_lm_keys(o, config);
  config.set("hidden_dropout", o.dropout), config.set("use_parallel_residual", o.parallel);
  config.set("attention_bias", o.attention_bias);
  if (o.rotary) config.set("rotary_emb_base", o.rotary->theta), config.set("rotary_pct", o.rotary->partial);
}

constexpr std::array<std::string_view, 1> kJoinedInNeox = {".query_key_value"};

}  // namespace

const CausalLmFamily kGptNeox = {
    .type = "gpt_neox",
    .class_name = "GPTNeoX",
    .read = read_gpt_neox,
    .write = write_gpt_neox,
    .names = {.prefix = "gpt_neox.",
              .embedding = "embed_in",
              .final_norm = "final_layer_norm",
              .output = "embed_out",
              .block = {.self = {"attention.query_key_value.query", "attention.query_key_value.key",
                                 "attention.query_key_value.value", "attention.dense", "input_layernorm"},
                        .up = "mlp.dense_h_to_4h",
                        .down = "mlp.dense_4h_to_h",
                        .feed_forward_norm = "post_attention_layernorm"},
              .joined = kJoinedInNeox},
    .matrices = StoredMatrices::joined_by_head};

}  // namespace attend
