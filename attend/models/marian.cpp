// MarianMT (Junczys-Dowmunt et al. 2018; Hugging Face's MarianMTModel), and "attend-transformer", which has options
// that MarianMT does not have.
#include "attend/core/error.h"
#include "attend/models/bounds.h"
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_marian(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o);
  check_architecture(config, o);
}

void read_own(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o);
  o.pre_norm = config.flag("normalize_before", false);
  o.final_norm = config.flag("add_final_layer_norm", false);
  o.learned_positions = !config.flag("static_position_embeddings", true);
  o.pointer = config.flag("pointer", false);
  o.recurrent_layers = config.integer_in("encoder_recurrent_layers", 0, bounds::kLayers, 0);
  o.source_case = config.flag("source_case", false);
}

/// Also the keys that "attend-transformer" reads. Hugging Face's Marian ignores them.
void write_marian(const TransformerOptions& o, Config& config) {
  write_transformer_sizes(o, config);
  config.set("normalize_before", o.pre_norm), config.set("add_final_layer_norm", o.final_norm);
  config.set("static_position_embeddings", !o.learned_positions);
}

void write_own(const TransformerOptions& o, Config& config) {
  write_marian(o, config);
  config.set("pointer", o.pointer);
  if (o.source_case) config.set("source_case", true);
  if (o.recurrent_layers > 0) config.set("encoder_recurrent_layers", o.recurrent_layers);
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

const TransformerFamily kMarian = {
    .type = "marian", .class_name = "MarianMTModel", .read = read_marian, .write = write_marian, .names = kMarianNames};
const TransformerFamily kAttendTransformer = {
    .type = "attend-transformer", .class_name = "", .read = read_own, .write = write_own, .names = kMarianNames};

}  // namespace attend
