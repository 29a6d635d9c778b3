// RoBERTa (Liu et al. 2019), XLM-RoBERTa and CamemBERT. Positions begin after the padding id, and the head for texts
// has a layer of its own instead of the pooler.
#include "attend/models/bert.h"

namespace attend {
namespace {

void read_roberta(const Config& config, BertOptions& o) {
  o.padding = 1;
  o.head_activation = Activation::gelu;
  read_bert_keys(config, o);
}

constexpr std::pair<std::string_view, std::string_view> kRobertaNames[] = {{"bert.", "roberta."}};
constexpr std::pair<std::string_view, std::string_view> kRobertaHeads[] = {
    {"cls.predictions.transform.dense.", "lm_head.dense."},
    {"cls.predictions.transform.LayerNorm.", "lm_head.layer_norm."},
    {"cls.predictions.decoder.", "lm_head.decoder."},
    {"cls.predictions.bias", "lm_head.bias"},
    {"before_labels.", "classifier.dense."}};

}  // namespace

const BertFamily kRobertaFamily = {.read = read_roberta,
                                   .write = write_bert_keys,
                                   .prefix = "roberta.",
                                   .layers = "encoder.layer.",
                                   .layers_key = "num_hidden_layers",
                                   .names = kRobertaNames,
                                   .head_names = kRobertaHeads,
                                   .positions_after_padding = true,
                                   .pooler = true,
                                   .label_activation = Activation::tanh,
                                   .label_dropout = true};

}  // namespace attend
