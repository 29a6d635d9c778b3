// DistilBERT (Sanh et al. 2019; Hugging Face's DistilBertModel). It has no token types and no pooler.
#include "attend/models/bert.h"

namespace attend {
namespace {

/// The dropout of the head has a key for each class.
const char* distilbert_head_dropout(BertHead head) {
  return head == BertHead::sequence_classification ? "seq_classif_dropout"
         : head == BertHead::question_answering    ? "qa_dropout"
                                                   : nullptr;
}

void read_distilbert(const Config& config, BertOptions& o) {
  o.layers = 6;
  read_bert_keys(config, o);
  if (const char* key = distilbert_head_dropout(o.head))
    o.head_dropout = config.probability(key, o.head == BertHead::sequence_classification ? 0.2 : 0.1);
}

void write_distilbert(const BertOptions& o, Config& config) {
  write_bert_keys(o, config);
  if (const char* key = distilbert_head_dropout(o.head)) config.set(key, o.head_dropout);
}

constexpr std::pair<std::string_view, std::string_view> kDistilBertNames[] = {
    {"bert.encoder.layer.", "distilbert.transformer.layer."},
    {"bert.", "distilbert."},
    {".attention.self.query.", ".attention.q_lin."},
    {".attention.self.key.", ".attention.k_lin."},
    {".attention.self.value.", ".attention.v_lin."},
    {".attention.output.dense.", ".attention.out_lin."},
    {".attention.output.LayerNorm.", ".sa_layer_norm."},
    {".intermediate.dense.", ".ffn.lin1."},
    {".output.dense.", ".ffn.lin2."},
    {".output.LayerNorm.", ".output_layer_norm."},
    {"cls.predictions.transform.dense.", "vocab_transform."},
    {"cls.predictions.transform.LayerNorm.", "vocab_layer_norm."},
    {"cls.predictions.decoder.", "vocab_projector."},
    {"cls.predictions.bias", "vocab_projector.bias"},
    {"before_labels.", "pre_classifier."}};

}  // namespace

const BertFamily kDistilBertFamily = {.read = read_distilbert,
                                      .write = write_distilbert,
                                      .keys = {.width = "dim",
                                               .layers = "n_layers",
                                               .heads = "n_heads",
                                               .inner = "hidden_dim",
                                               .activation = "activation",
                                               .types = nullptr,
                                               .dropout = "dropout",
                                               .attention_dropout = "attention_dropout",
                                               .head_dropout = nullptr,
                                               .eps = nullptr},
                                      .prefix = "distilbert.",
                                      .layers = "transformer.layer.",
                                      .layers_key = "n_layers",
                                      .names = kDistilBertNames,
                                      .label_activation = Activation::relu,
                                      .answer_dropout = true};

}  // namespace attend
