// PEGASUS (Zhang et al. 2020; Hugging Face's PegasusForConditionalGeneration). It has sinusoidal positions and norms
// before the sub-layers.
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_pegasus(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o, {.padding = 0, .end = 1});
  o.pre_norm = o.final_norm = true;
  check_architecture(config, o);
}

}  // namespace

const TransformerFamily kPegasus = {.type = "pegasus",
                                    .class_name = "PegasusForConditionalGeneration",
                                    .read = read_pegasus,
                                    .write = write_transformer_sizes,
                                    .names = kMarian.names,
                                    .whole_texts = true,
                                    .stores_positions = true};

}  // namespace attend
