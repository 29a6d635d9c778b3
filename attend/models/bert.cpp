#include "attend/models/bert.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>

#include "attend/core/error.h"
#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/models/check_weights.h"
#include "attend/models/labels.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"
#include "attend/ops/gather.h"

namespace attend {
namespace {

/// The suffixes of class names in `transformers`.
const std::vector<std::pair<std::string, BertHead>> kHeadNames = {
    {"Model", BertHead::none},
    {"ForPreTraining", BertHead::pre_training},
    {"ForMaskedLM", BertHead::masked_lm},
    {"ForNextSentencePrediction", BertHead::next_sentence},
    {"ForSequenceClassification", BertHead::sequence_classification},
    {"ForTokenClassification", BertHead::token_classification},
    {"ForQuestionAnswering", BertHead::question_answering}};

/// Parts of parameter names: BERT's, which are also ours, and those that replace them in the family. All that match are
/// replaced, in this order.
using Names = std::vector<std::pair<std::string_view, std::string_view>>;
const Names& names_of(BertFamily family) {
  static const Names bert = {};
  static const Names distilbert = {{"bert.encoder.layer.", "distilbert.transformer.layer."},
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
  static const Names roberta = {{"bert.", "roberta."},
                                {"cls.predictions.transform.dense.", "lm_head.dense."},
                                {"cls.predictions.transform.LayerNorm.", "lm_head.layer_norm."},
                                {"cls.predictions.decoder.", "lm_head.decoder."},
                                {"cls.predictions.bias", "lm_head.bias"},
                                {"before_labels.", "classifier.dense."}};
  return family == BertFamily::bert ? bert : family == BertFamily::distilbert ? distilbert : roberta;
}

/// The name of a parameter in a folder of this variant.
std::string name_in_folder(const BertOptions& options, std::string name) {
  // RoBERTa's head for sequence classification has two layers, classifier.dense and classifier.out_proj. Its head for
  // token classification has one.
  const bool two_layers = options.family() == BertFamily::roberta && options.head == BertHead::sequence_classification;
  if (two_layers && name.starts_with("classifier.")) name = "classifier.out_proj." + name.substr(11);
  for (const auto& [ours, theirs] : names_of(options.family())) {
    const std::size_t at = name.find(ours);
    const bool whole = ours.front() == '.' || at == 0;  // a part without a leading dot must begin the name
    if (at != std::string::npos && whole) name.replace(at, ours.size(), theirs);
  }
  return name;
}

std::string_view prefix_of(BertFamily family) {
  return family == BertFamily::bert ? "bert." : family == BertFamily::distilbert ? "distilbert." : "roberta.";
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Sets the initial value of a parameter.
void initialise(const std::string& name, Tensor& tensor, float deviation, Generator& generator) {
  if (name.ends_with("LayerNorm.weight"))
    tensor.fill(1.f);
  else if (name.ends_with("bias"))
    tensor.fill(0.f);
  else
    init::normal(tensor, deviation, generator);
}

/// The row of the first token of each text.   -> int32 [texts]
Tensor first_rows(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int32_t> rows;
  std::int64_t next = 0;
  for (const std::int64_t length : lengths) {
    if (length < 1) fail("bert", "a text has no tokens: expected at least one");
    rows.push_back(static_cast<std::int32_t>(next));
    next += length;
  }
  return Tensor::ids(rows, {static_cast<std::int64_t>(rows.size())});
}

constexpr BlockNames kBertNames = {.self = {"attention.self.query", "attention.self.key", "attention.self.value",
                                            "attention.output.dense", "attention.output.LayerNorm"},
                                   .up = "intermediate.dense",
                                   .down = "output.dense",
                                   .feed_forward_norm = "output.LayerNorm"};

void require_head(const Linear& layer, const char* what) {
  if (!layer.defined()) fail("bert", "this model has no head for ", what);
}

}  // namespace

std::int64_t BertOptions::max_tokens() const {
  return family() == BertFamily::roberta ? positions - padding - 1 : positions;
}

BertOptions BertOptions::read(const Config& config, const BertVariant& variant) {
  BertOptions o;
  o.variant = &variant;
  const bool distil = variant.family == BertFamily::distilbert;
  // The same key in BERT's and in DistilBERT's config.json.
  const auto key = [&](const char* bert, const char* distilbert) { return distil ? distilbert : bert; };
  const auto size = [&](const char* name, std::int64_t most, std::int64_t fallback) {
    return config.integer_in(name, 1, most, fallback);
  };
  const auto share = [&](const char* name, double fallback) { return config.probability(name, fallback); };
  o.vocabulary = size("vocab_size", bounds::kVocabulary, o.vocabulary);
  o.width = size(key("hidden_size", "dim"), bounds::kWidth, 768);
  o.layers = size(key("num_hidden_layers", "n_layers"), bounds::kLayers, distil ? 6 : 12);
  o.heads = config.divisor(key("num_attention_heads", "n_heads"), o.width, 12);
  o.inner = size(key("intermediate_size", "hidden_dim"), bounds::kInner, 3072);
  o.activation = config.choice(key("hidden_act", "activation"), kActivationNames, {Activation::gelu});
  o.positions = size("max_position_embeddings", bounds::kPositions, 512);
  o.types = distil ? 0 : size("type_vocab_size", bounds::kVocabulary, 2);
  o.dropout = share(key("hidden_dropout_prob", "dropout"), 0.1);
  o.attention_dropout = share(key("attention_probs_dropout_prob", "attention_dropout"), 0.1);
  o.eps = config.positive("layer_norm_eps", 1e-12);
  o.deviation = config.positive("initializer_range", 0.02);
  o.padding = static_cast<std::int32_t>(
      config.integer_in("pad_token_id", 0, o.vocabulary - 1, variant.family == BertFamily::roberta ? 1 : 0));
  o.tied_output = config.flag("tie_word_embeddings", true);
  if (const std::string positions = config.text("position_embedding_type", "absolute"); positions != "absolute")
    fail<InputError>("bert", "config.json: \"position_embedding_type\" is \"", positions,
                     "\", which is not supported: expected absolute");
  for (const char* name : {"is_decoder", "add_cross_attention", "is_encoder_decoder"})
    if (config.flag(name, false))
      fail<InputError>("bert", "config.json: \"", name, "\" is true, which is not supported");

  for (const std::string& architecture : config.texts("architectures"))
    for (const auto& [ending, head] : kHeadNames)
      if (architecture == std::string(variant.class_name) + ending) o.head = head;
  if (o.head == BertHead::sequence_classification || o.head == BertHead::token_classification)
    o.labels = read_labels(config);
  o.several_labels = read_several_labels(config);
  const float text_dropout = distil ? share("seq_classif_dropout", 0.2) : share("classifier_dropout", o.dropout);
  o.head_dropout = !distil                                       ? text_dropout
                   : o.head == BertHead::sequence_classification ? text_dropout
                   : o.head == BertHead::question_answering      ? share("qa_dropout", 0.1)
                                                                 : o.dropout;
  return o;
}

void BertOptions::write(Config& config) const {
  const bool distil = variant->family == BertFamily::distilbert;
  const auto key = [&](const char* bert, const char* distilbert) { return distil ? distilbert : bert; };
  config.set("model_type", std::string(variant->type));
  config.set("architectures", std::vector<std::string>{std::string(variant->class_name) + name_of(head, kHeadNames)});
  config.set("vocab_size", vocabulary);
  config.set(key("hidden_size", "dim"), width), config.set(key("num_hidden_layers", "n_layers"), layers);
  config.set(key("num_attention_heads", "n_heads"), heads), config.set(key("intermediate_size", "hidden_dim"), inner);
  config.set(key("hidden_act", "activation"), name_of(activation, kActivationNames));
  config.set("max_position_embeddings", positions);
  if (!distil) config.set("type_vocab_size", types), config.set("layer_norm_eps", eps);
  config.set(key("hidden_dropout_prob", "dropout"), dropout);
  config.set(key("attention_probs_dropout_prob", "attention_dropout"), attention_dropout);
  if (!distil) config.set("classifier_dropout", head_dropout);
  if (distil && head == BertHead::sequence_classification) config.set("seq_classif_dropout", head_dropout);
  if (distil && head == BertHead::question_answering) config.set("qa_dropout", head_dropout);
  config.set("initializer_range", deviation);
  config.set("pad_token_id", padding), config.set("tie_word_embeddings", tied_output);
  if (!labels.empty()) write_labels(config, labels);
  if (head == BertHead::sequence_classification) write_several_labels(config, several_labels);
}

Bert::Bert(const BertOptions& o, Generator& generator) : options(o) {
  if (o.max_tokens() < 1)
    fail<InputError>("bert", "the model has no positions for tokens: got ", o.positions, " positions and padding id ",
                     o.padding);
  if ((o.head == BertHead::sequence_classification || o.head == BertHead::token_classification) && o.labels.empty())
    fail<InputError>("bert", "a classification head needs labels: got none");
  {
    const init::Skipped later;
    tokens = Embedding(o.vocabulary, o.width), positions = Embedding(o.positions, o.width);
    if (o.types > 0) types = Embedding(o.types, o.width);
    embedding_norm = Norm(o.width, {.eps = o.eps});
    const BlockOptions block{.width = o.width,
                             .heads = o.heads,
                             .inner = o.inner,
                             .activation = o.activation,
                             .norm = {.eps = o.eps},
                             .dropout = o.dropout,
                             .attention_dropout = o.attention_dropout};
    for (std::int64_t i = 0; i < o.layers; ++i) encoder.blocks.emplace_back(block, kBertNames, generator);
    encoder.name = "layer";
    const bool bert = o.family() == BertFamily::bert;
    const bool pooled = o.head == BertHead::none || o.head == BertHead::pre_training ||
                        o.head == BertHead::next_sentence || o.head == BertHead::sequence_classification;
    if (pooled && (bert || (o.head == BertHead::none && o.family() == BertFamily::roberta)))
      pooler = Linear(o.width, o.width);
    if (o.head == BertHead::pre_training || o.head == BertHead::masked_lm) {
      transform = Linear(o.width, o.width), transform_norm = Norm(o.width, {.eps = o.eps});
      if (!o.tied_output) output.weight = Tensor::empty({o.vocabulary, o.width});
      output_bias = Tensor::empty({o.vocabulary});
    }
    if (o.head == BertHead::pre_training || o.head == BertHead::next_sentence) next_sentence = Linear(o.width, 2);
    if (o.head == BertHead::sequence_classification && !bert) before_labels = Linear(o.width, o.width);
    if (!o.labels.empty()) labels = Linear(o.width, static_cast<std::int64_t>(o.labels.size()));
    if (o.head == BertHead::question_answering) answer = Linear(o.width, 2);
  }
  tokens.padding = o.padding;
  if (o.family() == BertFamily::roberta) positions.padding = o.padding;
  if (init::skipped()) return;
  encoder.place_neighbours();
  for_each_parameter(
      *this, [&](const std::string& name, Tensor& tensor) { initialise(name, tensor, o.deviation, generator); });
  for (Embedding* table : {&tokens, &positions})
    if (table->padding >= 0) std::ranges::fill(table->weight.view_rows(table->padding, table->padding + 1).span(), 0.f);
}

Tensor Bert::encode(const BertInput& input, Probe* probe) const {
  const std::int64_t N = std::accumulate(input.lengths.begin(), input.lengths.end(), std::int64_t{0});
  const bool features = input.ids.dtype() == DType::f32;
  if (input.ids.shape() != (features ? Shape{N, options.width} : Shape{N}))
    fail("bert", "the lengths of the texts do not add up to the number of tokens: got ids ", input.ids.shape(),
         ", expected [", N, "]");
  std::vector<std::int32_t> places;
  const auto first = static_cast<std::int32_t>(options.positions - options.max_tokens());
  for (const std::int64_t length : input.lengths) {
    if (length > options.max_tokens())
      fail<InputError>("bert", "a text is too long: got ", length, " tokens, the model has positions for ",
                       options.max_tokens());
    for (std::int64_t i = 0; i < length; ++i) places.push_back(first + static_cast<std::int32_t>(i));
  }
  Tensor x = (features ? input.ids : tokens(input.ids)) + positions(Tensor::ids(places, {N}));
  if (options.types > 0) x = x + types(input.types.defined() ? input.types : Tensor::zeros({N}, DType::i32));
  x = dropout(embedding_norm(x), options.dropout).reshape({1, N, options.width});
  return encoder(x, {.mask = Mask::packed(input.lengths), .probe = probe}).reshape({N, options.width});
}

Tensor Bert::pool(const Tensor& states, const std::vector<std::int64_t>& lengths) const {
  require_head(pooler, "pooling");
  return pooler(index_select(states, first_rows(lengths), 0), Activation::tanh);
}

Tensor Bert::predict_tokens(const Tensor& states, const Tensor& rows) const {
  require_head(transform, "masked tokens");
  // RoBERTa always uses GELU here; BERT and DistilBERT use the activation of the encoder.
  const Activation activation = options.family() == BertFamily::roberta ? Activation::gelu : options.activation;
  const Tensor x = transform_norm(transform(index_select(states, rows, 0), activation));
  return output.defined() ? Linear(output.weight, output_bias, output.scales)(x) : tokens.project(x, output_bias);
}

Tensor Bert::predict_next_sentence(const Tensor& states, const std::vector<std::int64_t>& lengths) const {
  require_head(next_sentence, "next-sentence prediction");
  return next_sentence(pool(states, lengths));
}

Tensor Bert::label_texts(const Tensor& states, const std::vector<std::int64_t>& lengths) const {
  if (options.head != BertHead::sequence_classification)
    fail("bert", "this model has no head for sequence classification");
  Tensor x;
  switch (options.family()) {
    case BertFamily::bert:
      x = pool(states, lengths);
      break;
    case BertFamily::distilbert:
      x = before_labels(index_select(states, first_rows(lengths), 0), Activation::relu);
      break;
    case BertFamily::roberta:
      x = before_labels(dropout(index_select(states, first_rows(lengths), 0), options.head_dropout), Activation::tanh);
      break;
  }
  return labels(dropout(x, options.head_dropout));
}

Tensor Bert::label_tokens(const Tensor& states) const {
  if (options.head != BertHead::token_classification) fail("bert", "this model has no head for token classification");
  return labels(dropout(states, options.head_dropout));
}

Tensor Bert::find_answer(const Tensor& states) const {
  require_head(answer, "question answering");
  return answer(options.family() == BertFamily::distilbert ? dropout(states, options.head_dropout) : states);
}

Bert load_bert(const Config& config, const Weights& weights, const BertVariant& variant, const BertLoading& loading) {
  BertOptions o = BertOptions::read(config, variant);
  const BertHead own = o.head;
  if (loading.head) o.head = *loading.head;
  const bool labelled = o.head == BertHead::sequence_classification || o.head == BertHead::token_classification;
  if (!labelled) o.labels.clear();
  const bool new_labels = labelled && !loading.labels.empty() &&
                          (o.head != own || o.several_labels != loading.several_labels ||
                           !std::ranges::is_permutation(o.labels, loading.labels));
  if (new_labels) o.labels = loading.labels, o.several_labels = loading.several_labels;
  if (labelled && o.labels.empty())
    fail<InputError>("bert", weights.name(), ": has no labels: it is not a ",
                     o.head == BertHead::sequence_classification ? "classifier" : "tagger");

  const bool distil = o.family() == BertFamily::distilbert;
  check_layers("bert", config, weights, distil ? "transformer.layer." : "encoder.layer.",
               distil ? "n_layers" : "num_hidden_layers", o.layers);
  const std::int64_t rows = o.vocabulary + o.positions + o.types + (new_labels ? 0 : std::ssize(o.labels));
  check_parameters("bert", config, weights,
                   static_cast<double>(o.width) * static_cast<double>(rows) +
                       static_cast<double>(o.layers) * block_parameters(o.width, o.width, o.inner));
  Bert model;
  {
    const init::Skipped skipped;
    model = Bert(o);
  }
  expect_precision("bert", config, loading.mapped, model);
  const std::string prefix(prefix_of(o.family())), decoder = name_in_folder(o, "cls.predictions.decoder.");
  // The name of a parameter in this folder.
  const auto stored = [&](const std::string& ours) {
    const std::string name = name_in_folder(o, ours);
    std::vector<std::string> names{name};
    if (ours == "cls.predictions.bias" && !o.tied_output) names.insert(names.begin(), decoder + "bias");
    if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
    for (std::size_t i = 0, count = names.size(); i < count; ++i) {  // the oldest BERT folders: "gamma" and "beta"
      const std::size_t norm = names[i].rfind("LayerNorm.");
      if (norm == std::string::npos) continue;
      names.push_back(names[i].substr(0, norm + 10) + (names[i].ends_with("weight") ? "gamma" : "beta"));
    }
    const auto there = std::ranges::find_if(names, [&](const std::string& each) { return weights.contains(each); });
    return there == names.end() ? name : *there;
  };
  // A head for other labels has another shape: the folder's head is not loaded.
  const auto is_new = [&](std::string_view name) { return new_labels && name.starts_with("classifier."); };
  std::vector<NamedTensor> all;
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    if (!is_new(name)) all.push_back({stored(name), tensor});
  });
  if (model.transform.defined() && o.tied_output)  // some folders also store the tied output layer
    for (const auto& [name, tensor] :
         {NamedTensor{decoder + "weight", model.tokens.weight}, NamedTensor{decoder + "bias", model.output_bias}})
      if (weights.contains(name) && name != stored("cls.predictions.bias")) all.push_back({name, tensor});
  const LoadOptions options{.allow_missing = true, .allow_unused = true};
  const LoadReport report =
      loading.mapped ? borrow_parameters(all, weights, options) : load_parameters(all, weights, options);

  // Parameters that the folder does not have: a pooler that no head needs is left out, a head that is not the folder's
  // own is initialised with random values, and anything else is an error.
  const std::set<std::string, std::less<>> missing(report.missing.begin(), report.missing.end());
  std::string lacking;
  auto next = all.begin();
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    if (!is_new(name)) {
      tensor = next->tensor;
      if (!missing.contains((next++)->name)) return;
    }
    const bool pooler = name.starts_with("bert.pooler.");
    if (pooler && o.head == BertHead::none) return;
    const bool may_initialise = is_new(name) || (o.head != own && (pooler || !name.starts_with("bert.")));
    if (!may_initialise || loading.mapped) {
      lacking += (lacking.empty() ? "" : ", ") + stored(name);
      return;
    }
    initialise(name, tensor, o.deviation, default_generator());
    if (loading.initialised) loading.initialised->push_back(name_in_folder(o, name));
  });
  if (!lacking.empty()) fail<InputError>("bert", weights.name(), ": lacks ", lacking);
  if (missing.contains(stored("bert.pooler.dense.weight")) && o.head == BertHead::none) model.pooler = {};
  if (!loading.mapped) model.encoder.place_neighbours();
  if (loading.unused)
    for (const std::string& name : report.unused)
      if (!ends_with_any(name,
                         {"embeddings.position_ids", "embeddings.token_type_ids", "predictions.bias", "lm_head.bias"}))
        loading.unused->push_back(name);
  return model;
}

Config Bert::config() const {
  Config config;
  options.write(config);
  return config;
}

std::vector<NamedTensor> Bert::stored_parameters() {
  std::vector<NamedTensor> all = parameters(*this);
  for (NamedTensor& parameter : all) {
    parameter.name = name_in_folder(options, parameter.name);
    // The names of a model without a head have no prefix.
    const std::string_view prefix = prefix_of(options.family());
    if (options.head == BertHead::none && parameter.name.starts_with(prefix)) parameter.name.erase(0, prefix.size());
  }
  if (output.defined() && options.family() != BertFamily::distilbert)  // stored under two names
    all.push_back({name_in_folder(options, "cls.predictions.decoder.") + "bias", output_bias});
  return all;
}

}  // namespace attend
