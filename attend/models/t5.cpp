// T5 (Raffel et al. 2020; Hugging Face's T5ForConditionalGeneration), versions 1.0 and 1.1 (Flan-T5). It has RMS norms
// before the sub-layers, no biases, unscaled attention scores, and relative positions as a bias on the scores.
#include "attend/core/error.h"
#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/models/transformer.h"

namespace attend {

namespace {

constexpr std::string_view kGated = "gated-";

void read_t5(const Config& config, TransformerOptions& o) {
  o.source_vocabulary = o.target_vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary);
  o.width = config.integer_in("d_model", 1, bounds::kWidth);
  o.head_dim = config.integer_in("d_kv", 1, bounds::kWidth);
  o.encoder_inner = o.decoder_inner = config.integer_in("d_ff", 1, bounds::kInner);
  o.encoder_layers = config.integer_in("num_layers", 1, bounds::kLayers);
  o.decoder_layers = config.integer_in("num_decoder_layers", 1, bounds::kLayers, o.encoder_layers);
  o.encoder_heads = o.decoder_heads = config.integer_in("num_heads", 1, bounds::kWidth);
  o.relative_buckets = config.integer_in("relative_attention_num_buckets", 4, bounds::kPositions, 32);
  o.relative_distance = config.integer_in("relative_attention_max_distance", 2, bounds::kPositions, 128);
  o.dropout = o.attention_dropout = o.activation_dropout = config.probability("dropout_rate", 0.1);
  o.norm = {NormKind::rms_norm, config.positive("layer_norm_epsilon", 1e-6)};
  std::string activation = config.text("feed_forward_proj", "relu");
  o.gated = activation.starts_with(kGated);
  if (o.gated) activation.erase(0, kGated.size()), o.family = &kGatedT5;
  if (o.gated && activation == "gelu") activation = "gelu_new";  // as Hugging Face does
  Config chosen;
  chosen.set("feed_forward_proj", activation);
  o.activation = chosen.choice("feed_forward_proj", kActivationNames);
  // Version 1.1 has an untied output layer and does not scale its input. Newer folders have a key for the scaling.
  o.scale_output = config.flag("scale_decoder_outputs", config.flag("tie_word_embeddings", true));
  o.tied_output = true;
  o.scale_embedding = o.scale_scores = o.bias = o.output_bias = false;
  o.pre_norm = o.final_norm = o.final_dropout = true;
  o.max_positions = 0;
  o.padding = read_token_id(config, "pad_token_id", 0, o);
  o.start = read_token_id(config, "decoder_start_token_id", o.padding, o);
  o.end = read_token_id(config, "eos_token_id", 1, o);
  must_be(config, "is_encoder_decoder", true);
}

void write_t5(const TransformerOptions& o, Config& config) {
  const std::string activation =
      o.activation == Activation::gelu_tanh && o.gated ? "gelu" : name_of(o.activation, kActivationNames);
  write_family(*o.family, config);
  config.set("vocab_size", o.target_vocabulary), config.set("d_model", o.width), config.set("d_kv", o.head_dim);
  config.set("d_ff", o.decoder_inner), config.set("num_layers", o.encoder_layers);
  config.set("num_decoder_layers", o.decoder_layers), config.set("num_heads", o.decoder_heads);
  config.set("relative_attention_num_buckets", o.relative_buckets);
  config.set("relative_attention_max_distance", o.relative_distance);
  config.set("dropout_rate", o.dropout), config.set("layer_norm_epsilon", o.norm.eps);
  config.set("feed_forward_proj", (o.gated ? std::string(kGated) : "") + activation);
  config.set("tie_word_embeddings", o.scale_output), config.set("scale_decoder_outputs", o.scale_output);
  config.set("is_encoder_decoder", true);
  config.set("pad_token_id", o.padding), config.set("decoder_start_token_id", o.start);
  config.set("eos_token_id", o.end);
}

constexpr BlockNames::Attention kT5Self = {"layer.0.SelfAttention.q", "layer.0.SelfAttention.k",
                                           "layer.0.SelfAttention.v", "layer.0.SelfAttention.o", "layer.0.layer_norm"};
constexpr BlockNames::Attention kT5Cross = {"layer.1.EncDecAttention.q", "layer.1.EncDecAttention.k",
                                            "layer.1.EncDecAttention.v", "layer.1.EncDecAttention.o",
                                            "layer.1.layer_norm"};
/// The feed-forward network is sub-layer 1 of an encoder block and sub-layer 2 of a decoder block. In gated networks,
/// wi_0 is the gate, to which the activation is applied.
constexpr TransformerFamily::Names kT5Names = {.prefix = "",
                                               .layers = "block",
                                               .final_norm = "final_layer_norm",
                                               .encoder = {.self = kT5Self,
                                                           .up = "layer.1.DenseReluDense.wi",
                                                           .down = "layer.1.DenseReluDense.wo",
                                                           .feed_forward_norm = "layer.1.layer_norm"},
                                               .decoder = {.self = kT5Self,
                                                           .cross = kT5Cross,
                                                           .up = "layer.2.DenseReluDense.wi",
                                                           .down = "layer.2.DenseReluDense.wo",
                                                           .feed_forward_norm = "layer.2.layer_norm"},
                                               .relative_bias = "0.layer.0.SelfAttention.relative_attention_bias"};

constexpr TransformerFamily::Names gated_names() {
  TransformerFamily::Names names = kT5Names;
  names.encoder.gate = "layer.1.DenseReluDense.wi_0", names.encoder.up = "layer.1.DenseReluDense.wi_1";
  names.decoder.gate = "layer.2.DenseReluDense.wi_0", names.decoder.up = "layer.2.DenseReluDense.wi_1";
  return names;
}

}  // namespace

const TransformerFamily kT5 = {.type = "t5",
                               .class_name = "T5ForConditionalGeneration",
                               .read = read_t5,
                               .write = write_t5,
                               .names = kT5Names,
                               .tied_unless_stored = true,
                               .whole_texts = true};
const TransformerFamily kGatedT5 = {.type = "t5",
                                    .class_name = "T5ForConditionalGeneration",
                                    .read = read_t5,
                                    .write = write_t5,
                                    .names = gated_names(),
                                    .tied_unless_stored = true,
                                    .whole_texts = true};

}  // namespace attend
