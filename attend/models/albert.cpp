// ALBERT (Lan et al. 2020; Hugging Face's AlbertModel). The layers share their weights, and the embeddings are narrower
// than the encoder.
#include "attend/core/error.h"
#include "attend/models/bert.h"
#include "attend/models/bounds.h"

namespace attend {
namespace {

void read_albert(const Config& config, BertOptions& o) {
  o.vocabulary = 30000, o.width = 4096, o.heads = 64, o.inner = 16384;
  o.activation = Activation::gelu_tanh;
  o.dropout = o.attention_dropout = 0.f;
  read_bert_keys(config, o);
  o.head_dropout = config.probability("classifier_dropout_prob", 0.1);
  o.embedding_width = config.integer_in("embedding_size", 1, bounds::kWidth, 128);
  o.groups = config.divisor("num_hidden_groups", o.layers, 1);
  if (const std::int64_t inner = config.integer("inner_group_num", 1); inner != 1)
    fail<InputError>("albert", "config.json: \"inner_group_num\" is ", inner, ", which is not supported: expected 1");
}

void write_albert(const BertOptions& o, Config& config) {
  write_bert_keys(o, config);
  config.set("classifier_dropout_prob", o.head_dropout), config.set("embedding_size", o.embedding_size());
  config.set("num_hidden_groups", o.groups > 0 ? o.groups : o.layers), config.set("inner_group_num", 1);
}

constexpr std::pair<std::string_view, std::string_view> kAlbertNames[] = {
    {"bert.encoder.layer.", "albert.encoder.albert_layer_groups."},
    {"bert.embeddings_project.", "albert.encoder.embedding_hidden_mapping_in."},
    {"bert.pooler.dense.", "albert.pooler."},
    {"bert.", "albert."},
    {".attention.self.", ".albert_layers.0.attention."},
    {".attention.output.", ".albert_layers.0.attention."},
    {".intermediate.dense.", ".albert_layers.0.ffn."},
    {".output.dense.", ".albert_layers.0.ffn_output."},
    {".output.LayerNorm.", ".albert_layers.0.full_layer_layer_norm."},
    {"cls.predictions.transform.", "predictions."},
    {"cls.predictions.", "predictions."},
    {"cls.seq_relationship.", "sop_classifier.classifier."}};

}  // namespace

const BertFamily kAlbertFamily = {.read = read_albert,
                                  .write = write_albert,
                                  .keys = {.head_dropout = nullptr},
                                  .prefix = "albert.",
                                  .layers = "albert_layer_groups.",
                                  .layers_key = "num_hidden_groups",
                                  .names = kAlbertNames,
                                  .next_sentence = true,
                                  .projected_embeddings = true,
                                  .pooler = true,
                                  .pooled_labels = true};

}  // namespace attend
