// mBART (Liu et al. 2020) and mBART-50 (Tang et al. 2020; Hugging Face's MBartForConditionalGeneration): BART with
// norms before the sub-layers. Tokens of the vocabulary stand for the languages (see Tokenizer::languages).
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_mbart(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o, {.padding = 1, .start = 2, .end = 2});
  o.embedding_norm = o.learned_positions = o.pre_norm = o.final_norm = true;
  o.position_offset = 2;  // Hugging Face does not use the first two rows of the table
  check_architecture(config, o);
}

}  // namespace

const TransformerFamily kMbart = {.type = "mbart",
                                  .class_name = "MBartForConditionalGeneration",
                                  .read = read_mbart,
                                  .write = write_transformer_sizes,
                                  .names = kMarian.names};

}  // namespace attend
