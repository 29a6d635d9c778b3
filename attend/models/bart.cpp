// BART (Lewis et al. 2020; Hugging Face's BartForConditionalGeneration). It has learned positions and normalises the
// embeddings.
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_bart(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o);
  o.embedding_norm = o.learned_positions = true;
  o.position_offset = 2;  // Hugging Face does not use the first two rows of the table
}

void write_bart(const TransformerOptions& o, Config& config) {
  config.set("model_type", "bart");
  config.set("architectures", std::vector<std::string>{"BartForConditionalGeneration"});
  write_transformer_sizes(o, config);
}

}  // namespace

const TransformerFamily kBart = {"bart", read_bart, write_bart, kMarian.names, false, true};

}  // namespace attend
