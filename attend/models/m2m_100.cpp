// M2M-100 (Fan et al. 2021) and NLLB-200 (NLLB Team 2022; Hugging Face's M2M100ForConditionalGeneration). They have
// fairseq's sinusoidal positions and norms before the sub-layers. Tokens of the vocabulary stand for the languages (see
// Tokenizer::languages).
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_m2m_100(const Config& config, TransformerOptions& o) {
  read_transformer_sizes(config, o,
                         {.activation = Activation::relu,
                          .scale_embedding = true,
                          .attention_dropout = 0.1,
                          .padding = 1,
                          .start = 2,
                          .end = 2});
  o.pre_norm = o.final_norm = true;
  o.output_bias = false;
  o.position_layout = PositionLayout::fairseq;
  o.position_offset = o.padding + 1;  // fairseq counts positions from here
  check_architecture(config, o);
}

}  // namespace

const TransformerFamily kM2m100 = {.type = "m2m_100",
                                   .class_name = "M2M100ForConditionalGeneration",
                                   .read = read_m2m_100,
                                   .write = write_transformer_sizes,
                                   .names = kMarian.names};

}  // namespace attend
