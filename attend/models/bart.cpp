// BART (Lewis et al. 2020; Hugging Face's BartForConditionalGeneration). It has learned positions and normalises the
// embeddings.
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_bart(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o, {.padding = 1, .start = 2, .end = 2});
  o.embedding_norm = o.learned_positions = true;
  o.position_offset = 2;  // Hugging Face does not use the first two rows of the table
  check_architecture(config, o);
}

}  // namespace

const TransformerFamily kBart = {.type = "bart",
                                 .class_name = "BartForConditionalGeneration",
                                 .read = read_bart,
                                 .write = write_transformer_sizes,
                                 .names = kMarian.names,
                                 .whole_texts = true};

}  // namespace attend
