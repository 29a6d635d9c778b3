// ModernBERT (Warner et al. 2024; Hugging Face's ModernBertModel). Pre-norm blocks without biases and with gated
// networks, and rotary positions. Most layers attend to a window of neighbours. All heads begin with the same layers.
#include "attend/core/error.h"
#include "attend/models/activation_names.h"
#include "attend/models/bert.h"
#include "attend/models/bounds.h"

namespace attend {
namespace {

constexpr const char *kFullAttention = "full_attention", *kLocalAttention = "sliding_attention";

/// The base of the rotary frequencies: "rope_parameters" since version 5 of transformers, its own key before.
double read_theta(const Config& config, const char* layers, const char* old_key, double fallback) {
  const Config all = config.object("rope_parameters"), own = all.object(layers);
  if (const std::string kind = own.text("rope_type", "default"); kind != "default")
    fail<InputError>("modernbert", "config.json: \"rope_type\" is \"", kind,
                     "\", which is not supported: expected default");
  const double theta = own.number("rope_theta", config.number(old_key, fallback));
  if (!(theta > 0))
    fail<InputError>("modernbert", "config.json: \"", own.has("rope_theta") ? "rope_theta" : old_key, "\" is ", theta,
                     ", expected a positive number");
  return theta;
}

void read_modernbert(const Config& config, BertOptions& o) {
  o.vocabulary = 50368, o.layers = 22, o.inner = 1152, o.positions = 8192, o.padding = 50283;
  o.dropout = o.attention_dropout = 0.f, o.eps = 1e-5f;
  read_bert_keys(config, o);
  if (o.positions * (o.width / o.heads) > bounds::kPositionNumbers)
    fail<InputError>("modernbert", "config.json: \"max_position_embeddings\" is ", o.positions,
                     ", which is too large: expected at most ", bounds::kPositionNumbers / (o.width / o.heads));
  o.modern = true;
  o.head_activation = config.choice("classifier_activation", kActivationNames, {Activation::gelu});
  const std::vector<std::pair<std::string, bool>> poolings = {{"cls", false}, {"mean", true}};
  o.mean_labels = config.choice("classifier_pooling", poolings, {false});
  for (const char* key : {"attention_bias", "mlp_bias", "norm_bias", "classifier_bias"})
    if (config.flag(key, false))
      fail<InputError>("modernbert", "config.json: \"", key, "\" is true, which is not supported");
  if (!config.flag("decoder_bias", true))
    fail<InputError>("modernbert", "config.json: \"decoder_bias\" is false, which is not supported");

  if (config.has("rope_scaling")) fail<InputError>("modernbert", "config.json: \"rope_scaling\" is not supported");

  BertRotary rotary;
  rotary.theta = read_theta(config, kFullAttention, "global_rope_theta", 160000);
  rotary.local_theta = read_theta(config, kLocalAttention, "local_rope_theta", 10000);
  rotary.window = config.integer_in("local_attention", 1, bounds::kPositions, 128) / 2;
  const std::int64_t every = config.integer_in("global_attn_every_n_layers", 1, bounds::kLayers, 3);
  for (std::int64_t i = 0; i < o.layers; ++i) rotary.local.push_back(i % every != 0);
  if (const std::vector<std::string> kinds = config.texts("layer_types"); !kinds.empty()) {
    if (std::ssize(kinds) != o.layers)
      fail<InputError>("modernbert", "config.json: \"layer_types\" has ", kinds.size(), " entries, expected ",
                       o.layers);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      rotary.local[i] = kinds[i] == kLocalAttention;
      if (!rotary.local[i] && kinds[i] != kFullAttention)
        fail<InputError>("modernbert", "config.json: \"layer_types\" has \"", kinds[i], "\", expected ", kFullAttention,
                         " or ", kLocalAttention);
    }
  }
  o.rotary = std::move(rotary);
}

void write_modernbert(const BertOptions& o, Config& config) {
  write_bert_keys(o, config);
  config.set("mlp_dropout", o.dropout);
  config.set("classifier_activation", name_of(o.head_activation.value_or(o.activation), kActivationNames));
  config.set("classifier_pooling", o.mean_labels ? "mean" : "cls");
  for (const char* key : {"attention_bias", "mlp_bias", "norm_bias", "classifier_bias"}) config.set(key, false);
  config.set("decoder_bias", true);
  const BertRotary rotary = o.rotary.value_or(BertRotary());
  std::vector<std::string> kinds;
  for (const bool local : rotary.local) kinds.emplace_back(local ? kLocalAttention : kFullAttention);
  config.set("layer_types", kinds), config.set("local_attention", 2 * rotary.window);
  Config positions;
  for (const auto& [kind, theta] : {std::pair(kFullAttention, rotary.theta), {kLocalAttention, rotary.local_theta}}) {
    Config own;
    own.set("rope_type", "default"), own.set("rope_theta", theta);
    positions.set(kind, own);
  }
  config.set("rope_parameters", positions);
}

constexpr std::pair<std::string_view, std::string_view> kModernBertNames[] = {
    {"bert.embeddings.word_embeddings.", "model.embeddings.tok_embeddings."},
    {"bert.embeddings.LayerNorm.", "model.embeddings.norm."},
    {"bert.encoder.layer.", "model.layers."},
    {"bert.encoder.LayerNorm.", "model.final_norm."},
    {".attention.self.query.", ".attn.Wqkv."},
    {".attention.self.key.", ".attn.Wqkv."},
    {".attention.self.value.", ".attn.Wqkv."},
    {".attention.output.dense.", ".attn.Wo."},
    {".attention.output.LayerNorm.", ".attn_norm."},
    {".intermediate.gate.", ".mlp.Wi."},
    {".intermediate.dense.", ".mlp.Wi."},
    {".output.dense.", ".mlp.Wo."},
    {".output.LayerNorm.", ".mlp_norm."},
    {"cls.predictions.transform.dense.", "head.dense."},
    {"cls.predictions.transform.LayerNorm.", "head.norm."},
    {"cls.predictions.decoder.", "decoder."},
    {"cls.predictions.bias", "decoder.bias"},
    {"qa_outputs.", "classifier."}};

}  // namespace

const BertFamily kModernBertFamily = {.read = read_modernbert,
                                      .write = write_modernbert,
                                      .keys = {.activation = "hidden_activation",
                                               .types = nullptr,
                                               .dropout = "embedding_dropout",
                                               .attention_dropout = "attention_dropout",
                                               .eps = "norm_eps"},
                                      .prefix = "model.",
                                      .layers = "layers.",
                                      .layers_key = "num_hidden_layers",
                                      .names = kModernBertNames,
                                      .shared_transform = true,
                                      .answer_dropout = true};

}  // namespace attend
