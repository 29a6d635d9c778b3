// mBART (Liu et al. 2020) and mBART-50 (Tang et al. 2020; Hugging Face's MBartForConditionalGeneration): BART with
// norms before the sub-layers. Tokens of the vocabulary stand for the languages (see Tokenizer::languages).
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_mbart(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o);
  o.embedding_norm = o.learned_positions = o.pre_norm = o.final_norm = true;
  o.position_offset = 2;  // Hugging Face does not use the first two rows of the table
  // Older folders have these keys. Hugging Face's mBART ignores them and supports only these values.
  must_be(config, "normalize_before", true), must_be(config, "add_final_layer_norm", true);
  must_be(config, "normalize_embedding", true), must_be(config, "static_position_embeddings", false);
}

void write_mbart(const TransformerOptions& o, Config& config) {
  config.set("model_type", "mbart");
  config.set("architectures", std::vector<std::string>{"MBartForConditionalGeneration"});
  write_transformer_sizes(o, config);
}

}  // namespace

const TransformerFamily kMbart = {"mbart", read_mbart, write_mbart, kMarian.names};

}  // namespace attend
