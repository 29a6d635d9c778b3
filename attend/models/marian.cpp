// MarianMT (Junczys-Dowmunt et al. 2018; Hugging Face's MarianMTModel), and "attend-transformer", which has options
// that MarianMT does not have.
#include "attend/core/error.h"
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_marian(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o);
  // Older folders have these keys. Hugging Face's Marian ignores them and supports only these values.
  must_be(config, "normalize_before", false), must_be(config, "add_final_layer_norm", false);
  must_be(config, "normalize_embedding", false), must_be(config, "static_position_embeddings", true);
}

void read_own(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o);
  o.pre_norm = config.flag("normalize_before", false);
  o.final_norm = config.flag("add_final_layer_norm", false);
  o.learned_positions = !config.flag("static_position_embeddings", true);
  o.pointer = config.flag("pointer", false);
}

/// The keys that "attend-transformer" reads. Hugging Face's Marian ignores them.
void write_choices(const TransformerOptions& o, Config& config) {
  config.set("normalize_before", o.pre_norm), config.set("add_final_layer_norm", o.final_norm);
  config.set("static_position_embeddings", !o.learned_positions);
}

void write_marian(const TransformerOptions& o, Config& config) {
  config.set("model_type", "marian");
  config.set("architectures", std::vector<std::string>{"MarianMTModel"});
  write_transformer_sizes(o, config);
  write_choices(o, config);
}

void write_own(const TransformerOptions& o, Config& config) {
  config.set("model_type", "attend-transformer");
  write_transformer_sizes(o, config);
  write_choices(o, config);
  config.set("pointer", o.pointer);
}

constexpr BlockNames::Attention kMarianSelf = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                               "self_attn.out_proj", "self_attn_layer_norm"};
constexpr BlockNames::Attention kMarianCross = {"encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj",
                                                "encoder_attn.out_proj", "encoder_attn_layer_norm"};
constexpr TransformerFamily::Names kMarianNames = {
    .prefix = "model.",
    .layers = "layers",
    .final_norm = "layer_norm",
    .encoder = {.self = kMarianSelf, .up = "fc1", .down = "fc2", .feed_forward_norm = "final_layer_norm"},
    .decoder = {.self = kMarianSelf,
                .cross = kMarianCross,
                .up = "fc1",
                .down = "fc2",
                .feed_forward_norm = "final_layer_norm"}};

}  // namespace

const TransformerFamily kMarian = {"marian", read_marian, write_marian, kMarianNames};
const TransformerFamily kAttendTransformer = {"attend-transformer", read_own, write_own, kMarianNames};

}  // namespace attend
