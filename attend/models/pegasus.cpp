// PEGASUS (Zhang et al. 2020; Hugging Face's PegasusForConditionalGeneration). It has sinusoidal positions and norms
// before the sub-layers.
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_pegasus(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o);
  o.pre_norm = o.final_norm = true;
  // Older folders have these keys. Hugging Face's PEGASUS ignores them and supports only these values.
  must_be(config, "normalize_before", true), must_be(config, "add_final_layer_norm", true);
  must_be(config, "normalize_embedding", false), must_be(config, "static_position_embeddings", true);
}

void write_pegasus(const TransformerOptions& o, Config& config) {
  config.set("model_type", "pegasus");
  config.set("architectures", std::vector<std::string>{"PegasusForConditionalGeneration"});
  write_transformer_sizes(o, config);
}

}  // namespace

const TransformerFamily kPegasus = {"pegasus", read_pegasus, write_pegasus, kMarian.names, false, true, true};

}  // namespace attend
