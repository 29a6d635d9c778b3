// ModernBERT (Warner et al. 2024; Hugging Face's ModernBertModel). Pre-norm blocks without biases and with gated
// networks, and rotary positions. Most layers attend to a window of neighbours. All heads begin with the same layers.
#include "attend/core/error.h"
#include "attend/models/activation_names.h"
#include "attend/models/bert.h"
#include "attend/models/bounds.h"

namespace attend {
namespace {

constexpr const char *kFullAttention = "full_attention", *kLocalAttention = "sliding_attention";

void read_modernbert(const Config& config, BertOptions& o) {
  o.vocabulary = 50368, o.layers = 22, o.inner = 1152, o.positions = 8192, o.padding = 50283;
  o.dropout = o.attention_dropout = 0.f, o.eps = 1e-5f;
  read_bert_keys(config, o);
  o.activation_dropout = config.probability("mlp_dropout", 0.0);
  o.head_dropout = config.probability("classifier_dropout", 0.0);
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

  BertRotary rotary;
  // Before version 5 of transformers, the bases of the frequencies had keys of their own, and "rope_scaling" was for
  // all layers.
  const Config parameters = config.object("rope_parameters"), scaling = config.object("rope_scaling");
  rotary.global = RotaryParameters::read(parameters.object(kFullAttention), scaling, o.positions,
                                         {.theta = config.number("global_rope_theta", 160000.0)});
  rotary.local_layers = RotaryParameters::read(parameters.object(kLocalAttention), scaling, o.positions,
                                               {.theta = config.number("local_rope_theta", 10000.0)});
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
  config.set("mlp_dropout", o.activation_dropout);
  config.set("classifier_activation", name_of(o.head_activation.value_or(o.activation), kActivationNames));
  config.set("classifier_pooling", o.mean_labels ? "mean" : "cls");
  for (const char* key : {"attention_bias", "mlp_bias", "norm_bias", "classifier_bias"}) config.set(key, false);
  config.set("decoder_bias", true);
  const BertRotary rotary = o.rotary.value_or(BertRotary());
  std::vector<std::string> kinds;
  for (const bool local : rotary.local) kinds.emplace_back(local ? kLocalAttention : kFullAttention);
  config.set("layer_types", kinds), config.set("local_attention", 2 * rotary.window);
  Config positions;
  positions.set(kFullAttention, rotary.global.write()), positions.set(kLocalAttention, rotary.local_layers.write());
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
                                               .eps = "norm_eps",
                                               .position_kind = nullptr},
                                      .prefix = "model.",
                                      .layers = "layers.",
                                      .layers_key = "num_hidden_layers",
                                      .names = kModernBertNames,
                                      .shared_transform = true,
                                      .answer_dropout = true};

}  // namespace attend
