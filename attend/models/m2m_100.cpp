// M2M-100 (Fan et al. 2021) and NLLB-200 (NLLB Team 2022; Hugging Face's M2M100ForConditionalGeneration). They have
// fairseq's sinusoidal positions and norms before the sub-layers. Tokens of the vocabulary stand for the languages (see
// Tokenizer::languages).
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_m2m_100(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o);
  o.pre_norm = o.final_norm = true;
  o.output_bias = false;
  o.position_layout = PositionLayout::fairseq;
  o.position_offset = o.padding + 1;  // fairseq counts positions from here
  // Older folders have these keys. Hugging Face's M2M-100 ignores them and supports only these values.
  must_be(config, "normalize_before", true), must_be(config, "add_final_layer_norm", true);
  must_be(config, "normalize_embedding", false), must_be(config, "static_position_embeddings", true);
}

void write_m2m_100(const TransformerOptions& o, Config& config) {
  config.set("model_type", "m2m_100");
  config.set("architectures", std::vector<std::string>{"M2M100ForConditionalGeneration"});
  write_transformer_sizes(o, config);
}

}  // namespace

const TransformerFamily kM2m100 = {"m2m_100", read_m2m_100, write_m2m_100, kMarian.names};

}  // namespace attend
