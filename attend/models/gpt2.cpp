// GPT-2 (Radford et al. 2019; Hugging Face's GPT2LMHeadModel): learned positions, pre-norm blocks with biases. Its
// c_attn, one matrix for queries, keys and values, is three layers here.
#include <array>

#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

void read_gpt2(const Config& config, CausalLmOptions& o) {
  o.vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary, o.vocabulary);
  o.positions =
      config.integer_in(config.has("n_positions") ? "n_positions" : "n_ctx", 1, bounds::kPositions, o.positions);
  o.width = config.integer_in("n_embd", 1, bounds::kWidth, o.width);
  o.layers = config.integer_in("n_layer", 1, bounds::kLayers, o.layers);
  o.heads = config.divisor("n_head", o.width, o.heads);
  o.inner = config.integer_in("n_inner", 0, bounds::kInner, 0);
  o.activation = config.choice("activation_function", kActivationNames, {o.activation});
  o.norm.eps = config.positive("layer_norm_epsilon", o.norm.eps);
  o.deviation = config.positive("initializer_range", o.deviation);
  o.dropout = config.probability("resid_pdrop", o.dropout);
  o.embedding_dropout = config.probability("embd_pdrop", o.embedding_dropout);
  o.attention_dropout = config.probability("attn_pdrop", o.attention_dropout);
  o.scale_attention = config.flag("scale_attn_weights", true);
  o.scale_by_inverse_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  // "reorder_and_upcast_attn" is ignored: it asks for float32 attention, which is always used here.
  o.tied_output = config.flag("tie_word_embeddings", true);
  o.set_biases(config.flag("bias", true));
  read_text_ends(config, o);
  require_flag(config, "add_cross_attention", false);
}

void write_gpt2(const CausalLmOptions& o, Config& config) {
  config.set("vocab_size", o.vocabulary), config.set("n_positions", o.positions);
  config.set("n_embd", o.width), config.set("n_layer", o.layers), config.set("n_head", o.heads);
  if (o.inner > 0) config.set("n_inner", o.inner);
  config.set("activation_function", name_of(o.activation, kActivationNames));
  config.set("layer_norm_epsilon", o.norm.eps), config.set("initializer_range", o.deviation);
  config.set("resid_pdrop", o.dropout), config.set("embd_pdrop", o.embedding_dropout);
  config.set("attn_pdrop", o.attention_dropout);
  config.set("scale_attn_weights", o.scale_attention);
  config.set("scale_attn_by_inverse_layer_idx", o.scale_by_inverse_layer);
  config.set("tie_word_embeddings", o.tied_output);
  if (!o.norm.bias) config.set("bias", false);
  write_text_ends(o, config);
}

constexpr std::array<std::string_view, 1> kJoinedInGpt2 = {".c_attn"};

}  // namespace

const CausalLmFamily kGpt2 = {
    .type = "gpt2",
    .class_name = "GPT2",
    .lm_class = "LMHeadModel",
    .read = read_gpt2,
    .write = write_gpt2,
    .names = {.prefix = "transformer.",
              .embedding = "wte",
              .positions = "wpe",
              .layers = "h",
              .final_norm = "ln_f",
              .block = {.self = {"attn.c_attn.query", "attn.c_attn.key", "attn.c_attn.value", "attn.c_proj", "ln_1"},
                        .up = "mlp.c_fc",
                        .down = "mlp.c_proj",
                        .feed_forward_norm = "ln_2"},
              .joined = kJoinedInGpt2,
              .layers_key = "n_layer"},
    .matrices = StoredMatrices::transposed,
    .stores_biases = true};

}  // namespace attend
