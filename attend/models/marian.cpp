// MarianMT's folders (Junczys-Dowmunt et al. 2018; Hugging Face's MarianMTModel), and Attend's own with the options
// that MarianMT lacks.
#include <algorithm>

#include "attend/core/error.h"
#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/models/transformer.h"

namespace attend {
namespace {

void must_be(const Config& config, const char* key, bool expected) {
  if (config.flag(key, expected) != expected)
    fail<InputError>("transformer", "config.json: \"", key, "\" is ", expected ? "false" : "true",
                     ", which is not supported for model_type \"", config.text("model_type", ""), "\"");
}

void read_sizes(const Config& config, TransformerOptions& o) {
  o.source_vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary);
  o.target_vocabulary = config.integer_in("decoder_vocab_size", 1, bounds::kVocabulary, o.source_vocabulary);
  o.width = config.integer_in("d_model", 1, bounds::kWidth);
  o.encoder_layers = config.integer_in("encoder_layers", 0, bounds::kLayers);
  o.decoder_layers = config.integer_in("decoder_layers", 1, bounds::kLayers);
  o.encoder_heads = config.integer_in("encoder_attention_heads", 1, o.width);
  o.decoder_heads = config.integer_in("decoder_attention_heads", 1, o.width);
  o.encoder_inner = config.integer_in("encoder_ffn_dim", 1, bounds::kInner);
  o.decoder_inner = config.integer_in("decoder_ffn_dim", 1, bounds::kInner);
  o.activation = config.choice("activation_function", kActivationNames, {Activation::gelu});
  o.shared_embeddings = config.flag("share_encoder_decoder_embeddings", true);
  o.tied_output = config.flag("tie_word_embeddings", true);
  o.scale_embedding = config.flag("scale_embedding", false);
  const std::int64_t most_positions = std::min(bounds::kPositions, bounds::kPositionNumbers / o.width);
  o.max_positions = config.integer_in("max_position_embeddings", 1, most_positions, 1024);
  o.dropout = static_cast<float>(config.number("dropout", 0.1));
  o.attention_dropout = static_cast<float>(config.number("attention_dropout", 0.0));
  o.activation_dropout = static_cast<float>(config.number("activation_dropout", 0.0));
  const auto id = [&](const char* key, std::int64_t otherwise) {
    const std::int64_t value = config.integer(key, otherwise);
    if (value < 0 || value >= o.target_vocabulary)
      fail<InputError>("transformer", "config.json: \"", key, "\" is ", value, ", expected one of ",
                       o.target_vocabulary, " tokens");
    return static_cast<std::int32_t>(value);
  };
  o.padding = id("pad_token_id", o.source_vocabulary - 1);
  o.start = id("decoder_start_token_id", o.padding);
  o.end = id("eos_token_id", 0);
  must_be(config, "is_encoder_decoder", true), must_be(config, "is_decoder", false);
}

void read_marian(const Config& config, TransformerOptions& o) {
  read_sizes(config, o);
  // Hugging Face's Marian ignores these keys, which older folders have.
  must_be(config, "normalize_before", false), must_be(config, "add_final_layer_norm", false);
  must_be(config, "normalize_embedding", false), must_be(config, "static_position_embeddings", true);
}

void read_own(const Config& config, TransformerOptions& o) {
  read_sizes(config, o);
  o.pre_norm = config.flag("normalize_before", false);
  o.final_norm = config.flag("add_final_layer_norm", false);
  o.learned_positions = !config.flag("static_position_embeddings", true);
}

void write_sizes(const TransformerOptions& o, Config& config) {
  config.set("vocab_size", o.source_vocabulary), config.set("decoder_vocab_size", o.target_vocabulary);
  config.set("d_model", o.width);
  config.set("encoder_layers", o.encoder_layers), config.set("decoder_layers", o.decoder_layers);
  config.set("encoder_attention_heads", o.encoder_heads), config.set("decoder_attention_heads", o.decoder_heads);
  config.set("encoder_ffn_dim", o.encoder_inner), config.set("decoder_ffn_dim", o.decoder_inner);
  config.set("activation_function", name_of(o.activation, kActivationNames));
  config.set("share_encoder_decoder_embeddings", o.shared_embeddings);
  config.set("tie_word_embeddings", o.tied_output);
  config.set("scale_embedding", o.scale_embedding);
  config.set("max_position_embeddings", o.max_positions);
  config.set("dropout", o.dropout), config.set("attention_dropout", o.attention_dropout);
  config.set("activation_dropout", o.activation_dropout);
  config.set("pad_token_id", o.padding), config.set("decoder_start_token_id", o.start);
  config.set("eos_token_id", o.end), config.set("forced_eos_token_id", o.end);
  config.set("is_encoder_decoder", true);
  config.set("normalize_before", o.pre_norm), config.set("add_final_layer_norm", o.final_norm);
  config.set("static_position_embeddings", !o.learned_positions);
}

void write_marian(const TransformerOptions& o, Config& config) {
  config.set("model_type", "marian");
  config.set("architectures", std::vector<std::string>{"MarianMTModel"});
  write_sizes(o, config);
}

void write_own(const TransformerOptions& o, Config& config) {
  config.set("model_type", "attend-transformer");
  write_sizes(o, config);
}

constexpr BlockNames::Attention attention_names(const char* query, const char* key, const char* value,
                                                const char* output, const char* norm) {
  return {query, key, value, output, norm};
}
constexpr BlockNames::Attention kSelf = attention_names("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                                        "self_attn.out_proj", "self_attn_layer_norm");
constexpr BlockNames::Attention kCross =
    attention_names("encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj", "encoder_attn.out_proj",
                    "encoder_attn_layer_norm");
constexpr TransformerFamily::Names kNames = {"model.",
                                             "layers",
                                             "layer_norm",
                                             {kSelf, {}, "fc1", "fc2", "final_layer_norm"},
                                             {kSelf, kCross, "fc1", "fc2", "final_layer_norm"}};

}  // namespace

const TransformerFamily kMarian = {"marian", read_marian, write_marian, kNames};
const TransformerFamily kAttendTransformer = {"attend-transformer", read_own, write_own, kNames};

}  // namespace attend
