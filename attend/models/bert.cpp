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
#include "attend/models/stored_parameter.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"
#include "attend/ops/gather.h"
#include "attend/ops/matmul.h"

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

/// The name of a parameter in a folder of this variant.
std::string name_in_folder(const BertOptions& options, std::string name) {
  const BertFamily& family = options.family();
  // With two layers, classifier.dense and classifier.out_proj, in the head for sequence classification. The head for
  // token classification has one.
  if (family.label_dropout && options.head == BertHead::sequence_classification && name.starts_with("classifier."))
    name = "classifier.out_proj." + name.substr(11);
  for (const auto& replaced : {family.names, family.head_names})
    for (const auto& [ours, theirs] : replaced) {
      const std::size_t at = name.find(ours);
      const bool whole = ours.front() == '.' || at == 0;  // a part without a leading dot must begin the name
      if (at != std::string::npos && whole) name.replace(at, ours.size(), theirs);
    }
  return name;
}

/// The bias of the output layer under the name of that layer. Most families have another name for it.
std::string second_bias(const BertOptions& options) {
  return name_in_folder(options, "cls.predictions.decoder.") + "bias";
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

/// The rows of the states that belong to each text, divided by its length.   -> [texts, N]
Tensor averages(const std::vector<std::int64_t>& lengths, std::int64_t N) {
  Tensor rows = Tensor::zeros({std::ssize(lengths), N});
  for (std::int64_t i = 0, next = 0; i < rows.dim(0); ++i) {
    const std::int64_t length = lengths[static_cast<std::size_t>(i)];
    std::fill_n(rows.data() + i * N + next, length, 1.f / static_cast<float>(length));
    next += length;
  }
  return rows;
}

constexpr BlockNames kBertNames = {.self = {"attention.self.query", "attention.self.key", "attention.self.value",
                                            "attention.output.dense", "attention.output.LayerNorm"},
                                   .up = "intermediate.dense",
                                   .gate = "intermediate.gate",
                                   .down = "output.dense",
                                   .feed_forward_norm = "output.LayerNorm"};

/// Whether the weights include any parameter of the model's head.
bool has_head(Bert& model, const Weights& weights) {
  bool any = false;
  for_each_parameter(model, [&](const std::string& name, Tensor&) {
    if (name.starts_with("bert.")) return;
    any |= weights.contains(name_in_folder(model.options, name));
    if (name == "cls.predictions.bias") any |= weights.contains(second_bias(model.options));
  });
  return any;
}

void require_head(const Linear& layer, const char* what) {
  if (!layer.defined()) fail("bert", "this model has no head for ", what);
}

}  // namespace

const BertFamily kBertFamily = {.read = read_bert_keys,
                                .write = write_bert_keys,
                                .prefix = "bert.",
                                .layers = "encoder.layer.",
                                .layers_key = "num_hidden_layers",
                                .next_sentence = true,
                                .pooler = true,
                                .pooled_labels = true};

std::int64_t BertOptions::max_tokens() const {
  return family().positions_after_padding ? positions - padding - 1 : positions;
}

void read_bert_keys(const Config& config, BertOptions& o) {
  const BertFamily::Keys& keys = o.family().keys;
  const auto size = [&](const char* name, std::int64_t most, std::int64_t fallback) {
    return config.integer_in(name, 1, most, fallback);
  };
  o.vocabulary = size("vocab_size", bounds::kVocabulary, o.vocabulary);
  o.width = size(keys.width, bounds::kWidth, o.width);
  o.layers = size(keys.layers, bounds::kLayers, o.layers);
  o.heads = config.divisor(keys.heads, o.width, o.heads);
  o.inner = size(keys.inner, bounds::kInner, o.inner);
  o.activation = config.choice(keys.activation, kActivationNames, {o.activation});
  o.positions = size("max_position_embeddings", bounds::kPositions, o.positions);
  o.types = keys.types ? size(keys.types, bounds::kVocabulary, o.types) : 0;
  o.dropout = config.probability(keys.dropout, o.dropout);
  o.attention_dropout = config.probability(keys.attention_dropout, o.attention_dropout);
  o.head_dropout = keys.head_dropout ? config.probability(keys.head_dropout, o.dropout) : o.dropout;
  if (keys.eps) o.eps = config.positive(keys.eps, o.eps);
  o.deviation = config.positive("initializer_range", o.deviation);
  o.padding = static_cast<std::int32_t>(config.integer_in("pad_token_id", 0, o.vocabulary - 1, o.padding));
  o.tied_output = config.flag("tie_word_embeddings", true);
  if (const std::string kind = keys.position_kind ? config.text(keys.position_kind, "absolute") : "absolute";
      kind != "absolute")
    fail<InputError>("bert", "config.json: \"", keys.position_kind, "\" is \"", kind,
                     "\", which is not supported: expected absolute");
  for (const char* name : {"is_decoder", "add_cross_attention", "is_encoder_decoder"})
    if (config.flag(name, false))
      fail<InputError>("bert", "config.json: \"", name, "\" is true, which is not supported");
}

BertOptions BertOptions::read(const Config& config, const BertVariant& variant) {
  BertOptions o;
  o.variant = &variant;
  for (const std::string& architecture : config.texts("architectures"))
    for (const auto& [ending, head] : kHeadNames)
      if (architecture == std::string(variant.class_name) + ending) o.head = head;
  if (o.head == BertHead::pre_training && variant.family->encoder_pre_training) o.head = BertHead::none;
  variant.family->read(config, o);
  if (o.head == BertHead::sequence_classification || o.head == BertHead::token_classification)
    o.labels = read_labels(config);
  o.several_labels = read_several_labels(config);
  return o;
}

void write_bert_keys(const BertOptions& o, Config& config) {
  const BertFamily::Keys& keys = o.family().keys;
  config.set("vocab_size", o.vocabulary);
  config.set(keys.width, o.width), config.set(keys.layers, o.layers), config.set(keys.heads, o.heads);
  config.set(keys.inner, o.inner), config.set(keys.activation, name_of(o.activation, kActivationNames));
  config.set("max_position_embeddings", o.positions);
  if (keys.types) config.set(keys.types, o.types);
  if (keys.eps) config.set(keys.eps, o.eps);
  config.set(keys.dropout, o.dropout), config.set(keys.attention_dropout, o.attention_dropout);
  if (keys.head_dropout) config.set(keys.head_dropout, o.head_dropout);
  config.set("initializer_range", o.deviation);
  config.set("pad_token_id", o.padding), config.set("tie_word_embeddings", o.tied_output);
}

void BertOptions::write(Config& config) const {
  config.set("model_type", std::string(variant->type));
  config.set("architectures", std::vector<std::string>{std::string(variant->class_name) + name_of(head, kHeadNames)});
  family().write(*this, config);
  if (!labels.empty()) write_labels(config, labels);
  if (head == BertHead::sequence_classification) write_several_labels(config, several_labels);
}

Bert::Bert(const BertOptions& o, Generator& generator) : options(o) {
  if (o.max_tokens() < 1)
    fail<InputError>("bert", "the model has no positions for tokens: got ", o.positions, " positions and padding id ",
                     o.padding);
  if ((o.head == BertHead::sequence_classification || o.head == BertHead::token_classification) && o.labels.empty())
    fail<InputError>("bert", "a classification head needs labels: got none");
  const BertFamily& family = o.family();
  const bool predicts_next = o.head == BertHead::pre_training || o.head == BertHead::next_sentence;
  if (predicts_next && !family.next_sentence)
    fail<InputError>("bert", "models of type \"", o.variant->type, "\" have no head for next-sentence prediction");
  const std::int64_t groups = o.groups > 0 ? o.groups : o.layers, E = o.embedding_size();
  if (groups < 1 || o.layers % groups != 0)
    fail<InputError>("bert", "the number of groups must divide the number of layers: got ", groups, " groups and ",
                     o.layers, " layers");
  if (o.rotary && std::ssize(o.rotary->local) != o.layers)
    fail<InputError>("bert", "each layer must be global or local: got ", o.rotary->local.size(), " kinds and ",
                     o.layers, " layers");
  {
    const init::Skipped later;
    const NormOptions norm{.eps = o.eps, .bias = !o.modern};
    tokens = Embedding(o.vocabulary, E);
    if (!o.rotary) positions = Embedding(o.positions, E);
    if (o.types > 0) types = Embedding(o.types, E);
    embedding_norm = Norm(E, norm);
    if (E != o.width || family.projected_embeddings) embedding_projection = Linear(E, o.width);
    if (o.relative_buckets > 0) relative_bias = RelativeBias(o.relative_buckets, o.heads, true, 128, generator);
    BlockOptions block{.width = o.width,
                       .heads = o.heads,
                       .inner = o.inner,
                       .activation = o.activation,
                       .gated = o.modern,
                       .bias = !o.modern,
                       .norm = norm,
                       .pre_norm = o.modern,
                       .dropout = o.modern ? o.attention_dropout : o.dropout,
                       .feed_forward_dropout = o.modern ? 0.f : o.dropout,
                       .attention_dropout = o.attention_dropout,
                       .activation_dropout = o.activation_dropout};
    RotaryTable rotary, local_rotary;
    if (o.rotary) {
      const std::int64_t D = o.width / std::max<std::int64_t>(o.heads, 1);
      rotary = o.rotary->global.table(o.positions, D), local_rotary = o.rotary->local_layers.table(o.positions, D);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(groups); ++i) {
      const bool local = o.rotary && o.rotary->local.at(i);
      block.rotary = local ? local_rotary : rotary, block.window = local ? o.rotary->window : -1;
      encoder.blocks.emplace_back(block, kBertNames, generator);
    }
    encoder.name = "layer", encoder.repeats = o.layers / groups;
    if (o.modern) {
      encoder.blocks.front().self_norm = {};  // the embeddings are normalised already
      encoder.final_norm = Norm(o.width, norm);
    }
    const bool classifies_texts = o.head == BertHead::sequence_classification;
    const bool pooled_head = predicts_next || (classifies_texts && family.pooled_labels);
    if (o.head == BertHead::none ? family.pooler : pooled_head) pooler = Linear(o.width, o.width);
    const bool predicts_tokens = o.head == BertHead::pre_training || o.head == BertHead::masked_lm;
    if (predicts_tokens || (family.shared_transform && o.head != BertHead::none))
      transform = Linear(o.width, E, !o.modern), transform_norm = Norm(E, norm);
    if (predicts_tokens) {
      if (!o.tied_output) output.weight = Tensor::empty({o.vocabulary, E});
      output_bias = Tensor::empty({o.vocabulary});
    }
    if (predicts_next) next_sentence = Linear(o.width, 2);
    if (classifies_texts && !family.pooled_labels && !family.shared_transform) before_labels = Linear(o.width, o.width);
    if (!o.labels.empty()) labels = Linear(o.width, static_cast<std::int64_t>(o.labels.size()));
    if (o.head == BertHead::question_answering) answer = Linear(o.width, 2);
  }
  tokens.padding = o.padding;
  if (family.positions_after_padding) positions.padding = o.padding;
  if (init::skipped()) return;
  encoder.place_neighbours();
  for_each_parameter(
      *this, [&](const std::string& name, Tensor& tensor) { initialise(name, tensor, o.deviation, generator); });
  for (Embedding* table : {&tokens, &positions})
    if (table->defined() && table->padding >= 0)
      std::ranges::fill(table->weight.view_rows(table->padding, table->padding + 1).span(), 0.f);
}

Tensor Bert::encode(const BertInput& input, Probe* probe) const {
  const std::int64_t N = std::accumulate(input.lengths.begin(), input.lengths.end(), std::int64_t{0});
  const bool features = input.ids.dtype() == DType::f32;
  if (input.ids.shape() != (features ? Shape{N, options.embedding_size()} : Shape{N}))
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
  Tensor x = features ? input.ids : tokens(input.ids);
  if (positions.defined()) x = x + positions(Tensor::ids(places, {N}));
  if (options.types > 0) x = x + types(input.types.defined() ? input.types : Tensor::zeros({N}, DType::i32));
  x = dropout(embedding_norm(x), options.dropout);
  if (embedding_projection.defined()) x = embedding_projection(x);
  BlockPass pass{.mask = Mask::packed(input.lengths), .probe = probe};
  if (relative_bias.defined() && N > 0) {
    const std::int64_t T = std::ranges::max(input.lengths);
    pass.bias = relative_bias(T, T);
  }
  return encoder(x.reshape({1, N, options.width}), pass).reshape({N, options.width});
}

Tensor Bert::transformed(const Tensor& x) const {
  return transform_norm(transform(x, options.head_activation.value_or(options.activation)));
}

Tensor Bert::pool(const Tensor& states, const std::vector<std::int64_t>& lengths) const {
  require_head(pooler, "pooling");
  return pooler(index_select(states, first_rows(lengths), 0), Activation::tanh);
}

Tensor Bert::predict_tokens(const Tensor& states, const Tensor& rows) const {
  if (!output_bias.defined()) fail("bert", "this model has no head for masked tokens");
  const Tensor x = transformed(index_select(states, rows, 0));
  if (!output.defined()) return tokens.project(x, output_bias);
  Linear biased = output;
  biased.bias = output_bias;
  return biased(x);
}

Tensor Bert::predict_next_sentence(const Tensor& states, const std::vector<std::int64_t>& lengths) const {
  require_head(next_sentence, "next-sentence prediction");
  return next_sentence(pool(states, lengths));
}

Tensor Bert::label_texts(const Tensor& states, const std::vector<std::int64_t>& lengths) const {
  if (options.head != BertHead::sequence_classification)
    fail("bert", "this model has no head for sequence classification");
  const BertFamily& family = options.family();
  Tensor x;
  if (family.pooled_labels) {
    x = pool(states, lengths);
  } else if (family.shared_transform) {
    x = transformed(options.mean_labels ? matmul(averages(lengths, states.dim(0)), states)
                                        : index_select(states, first_rows(lengths), 0));
  } else {
    x = index_select(states, first_rows(lengths), 0);
    if (family.label_dropout) x = dropout(x, options.head_dropout);
    x = before_labels(x, family.label_activation);
  }
  return labels(dropout(x, options.head_dropout));
}

Tensor Bert::label_tokens(const Tensor& states) const {
  if (options.head != BertHead::token_classification) fail("bert", "this model has no head for token classification");
  return labels(dropout(options.family().shared_transform ? transformed(states) : states, options.head_dropout));
}

Tensor Bert::find_answer(const Tensor& states) const {
  require_head(answer, "question answering");
  const Tensor x = options.family().shared_transform ? transformed(states) : states;
  return answer(options.family().answer_dropout ? dropout(x, options.head_dropout) : x);
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

  const BertFamily& family = o.family();
  const std::int64_t groups = o.groups > 0 ? o.groups : o.layers;
  check_layers("bert", config, weights, family.layers, family.layers_key, groups);
  const std::int64_t rows = o.vocabulary + (o.rotary ? 0 : o.positions) + o.types;
  check_parameters("bert", config, weights,
                   static_cast<double>(o.embedding_size()) * static_cast<double>(rows) +
                       static_cast<double>(o.width) * static_cast<double>(new_labels ? 0 : std::ssize(o.labels)) +
                       static_cast<double>(o.relative_buckets) * static_cast<double>(o.heads) +
                       static_cast<double>(groups) * block_parameters(o.width, o.width, o.inner));
  Bert model;
  {
    const init::Skipped skipped;
    model = Bert(o);
    // The folders of sentence-transformers name the class of the pre-training, but have the encoder only.
    const bool pre_trained = own == BertHead::masked_lm || own == BertHead::pre_training;
    if (!loading.head && pre_trained && !has_head(model, weights)) {
      o.head = BertHead::none;
      model = Bert(o);
    }
  }
  expect_precision("bert", config, loading.mapped, model);
  const bool quantised = model.tokens.scales.defined();
  const std::string prefix(family.prefix), decoder = name_in_folder(o, "cls.predictions.decoder.");
  // The name of a parameter in this folder.
  const auto stored = [&](const std::string& ours) {
    const std::string name = name_in_folder(o, ours);
    std::vector<std::string> names{name};
    if (ours == "cls.predictions.bias" && !o.tied_output) names.insert(names.begin(), second_bias(o));
    if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
    for (std::size_t i = 0, count = names.size(); i < count; ++i) {  // the oldest BERT folders: "gamma" and "beta"
      const std::size_t norm = names[i].rfind("LayerNorm.");
      if (norm == std::string::npos) continue;
      names.push_back(names[i].substr(0, norm + 10) + (names[i].ends_with("weight") ? "gamma" : "beta"));
    }
    const auto there = std::ranges::find_if(names, [&](const std::string& each) { return weights.contains(each); });
    return there == names.end() ? name : *there;
  };
  // A head that an adapter of an int8 model brings is float32.
  if (quantised)
    for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
      const bool scale = name.ends_with("weight_scale");
      const std::string weight = stored(scale ? name.substr(0, name.size() - 6) : name);
      if (!weights.contains(weight) || weights.get(weight).dtype() == DType::i8) return;
      if (scale)
        tensor = {};
      else if (tensor.dtype() == DType::i8)
        tensor = Tensor::empty(tensor.shape());
    });
  // The layer of another head may have the same name and another shape: it is not loaded.
  const bool new_answer =
      o.head == BertHead::question_answering && own != BertHead::none && own != BertHead::question_answering;
  const auto is_new = [&](std::string_view name) {
    return (new_labels && name.starts_with("classifier.")) || (new_answer && name.starts_with("qa_outputs."));
  };
  std::vector<StoredParameter> parts =
      stored_parameters_of(model, [&](const std::string& name) { return is_new(name) ? std::string() : stored(name); });
  std::erase_if(parts, [](const StoredParameter& one) { return one.name.empty(); });
  std::vector<NamedTensor> all;
  for (const StoredParameter& one : parts)
    all.push_back({one.name, one.parts.size() == 1 ? *one.parts.front()
                                                   : Tensor::empty(one.shape(), one.parts.front()->dtype())});
  if (model.output_bias.defined() && o.tied_output)  // some folders also store the tied output layer
    for (const auto& [name, tensor] :
         {NamedTensor{decoder + "weight", model.tokens.weight}, NamedTensor{second_bias(o), model.output_bias}})
      if (weights.contains(name) && name != stored("cls.predictions.bias")) all.push_back({name, tensor});
  const LoadOptions options{.allow_missing = true, .allow_unused = true};
  const LoadReport report =
      loading.mapped ? borrow_parameters(all, weights, options) : load_parameters(all, weights, options);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].assign(all[i].tensor);

  // Parameters that the folder does not have: a pooler that no head needs is left out, a head that is not the folder's
  // own is initialised with random values, and anything else is an error.
  const std::set<std::string, std::less<>> missing(report.missing.begin(), report.missing.end());
  std::string lacking;
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    if (!is_new(name) && !missing.contains(stored(name))) return;
    const bool pooler = name.starts_with("bert.pooler.");
    if (pooler && o.head == BertHead::none) return;
    const bool may_initialise = is_new(name) || (o.head != own && (pooler || !name.starts_with("bert.")));
    if (!may_initialise || (loading.mapped && !loading.initialised)) {
      lacking += (lacking.empty() ? "" : ", ") + stored(name);
      return;
    }
    if (name.ends_with("weight_scale")) {  // of a new layer of an int8 model
      tensor = {};
      return;
    }
    if (tensor.dtype() == DType::i8) tensor = Tensor::empty(tensor.shape());
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

std::string Bert::stored_name(std::string name) const {
  name = name_in_folder(options, std::move(name));
  const std::string_view prefix = options.family().prefix;
  if (options.head == BertHead::none && name.starts_with(prefix)) name.erase(0, prefix.size());  // there is no head
  return name;
}

std::vector<NamedTensor> Bert::stored_parameters() {
  std::vector<NamedTensor> all;
  const auto name = [&](const std::string& ours) { return stored_name(ours); };
  for (const StoredParameter& one : stored_parameters_of(*this, name)) all.push_back({one.name, one.joined()});
  if (output.defined() && second_bias(options) != name("cls.predictions.bias"))  // stored under two names
    all.push_back({second_bias(options), output_bias});
  return all;
}

}  // namespace attend
