#include "attend/models/gpt2.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/core/error.h"
#include "attend/kernels/movement.h"
#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/models/labels.h"
#include "attend/nn/module.h"
#include "attend/nn/quantise.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/attention.h"
#include "attend/ops/check.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

Linear linear_of(std::int64_t in, std::int64_t out, float deviation, bool bias, Generator& generator) {
  Tensor weight = Tensor::empty({out, in});
  init::normal(weight, deviation, generator);
  return Linear(weight, bias ? Tensor::zeros({out}) : Tensor());
}

constexpr const char* kClassifier = "GPT2ForSequenceClassification";

// How a folder says that its matrices are of int8. Others do not know the method, and say so.
constexpr const char* kMethod = "attend-int8";

bool holds_int8(const Config& config) {
  return config.has("quantization_config") && config.object("quantization_config").text("quant_method", "") == kMethod;
}

Config int8_config() {
  Config config;
  config.set("quant_method", kMethod);
  return config;
}

void must(const Config& config, const char* key, bool expected) {
  if (config.flag(key, expected) != expected)
    fail<InputError>("gpt2", "config.json: \"", key, "\" is ", expected ? "false" : "true", ", which is not supported");
}

void check(const Gpt2Options& o) {
  if (o.vocabulary < 1 || o.positions < 1 || o.layers < 1 || o.width < 1 || o.inner < 0)
    fail<InputError>("gpt2", "there must be words, positions and layers: got a vocabulary of ", o.vocabulary, ", ",
                     o.positions, " positions, ", o.layers, " layers of width ", o.width, " and ", o.inner_width());
  if (o.heads < 1 || o.width % o.heads != 0)
    fail<InputError>("gpt2", "the heads must divide the width: got ", o.heads, " heads and width ", o.width);
}

}  // namespace

Gpt2Options Gpt2Options::read(const Config& config) {
  Gpt2Options o;
  o.vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary, o.vocabulary);
  o.positions =
      config.integer_in(config.has("n_positions") ? "n_positions" : "n_ctx", 1, bounds::kPositions, o.positions);
  o.width = config.integer_in("n_embd", 1, bounds::kWidth, o.width);
  o.layers = config.integer_in("n_layer", 1, bounds::kLayers, o.layers);
  o.heads = config.integer_in("n_head", 1, o.width, o.heads);
  o.inner = config.integer_in("n_inner", 0, bounds::kInner, 0);
  o.activation = config.choice("activation_function", kActivationNames, {o.activation});
  const auto number = [&](const char* key, float otherwise) {
    return static_cast<float>(config.number(key, static_cast<double>(otherwise)));
  };
  o.epsilon = number("layer_norm_epsilon", o.epsilon), o.deviation = number("initializer_range", o.deviation);
  o.dropout = number("resid_pdrop", o.dropout), o.embedding_dropout = number("embd_pdrop", o.embedding_dropout);
  o.attention_dropout = number("attn_pdrop", o.attention_dropout);
  o.scale_attention = config.flag("scale_attn_weights", true);
  o.scale_by_inverse_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  // "reorder_and_upcast_attn" changes nothing: it asks for float32 where others would have less.
  o.tied_output = config.flag("tie_word_embeddings", true);
  if (std::ranges::count(config.texts("architectures"), kClassifier) > 0) {
    o.labels = read_labels(config), o.several_labels = read_several_labels(config);
    o.tied_output = true;  // no words are said, so there is nothing to say them with
  }
  o.bias = config.flag("bias", true);
  const auto id = [&](const char* key, std::int64_t otherwise) {
    const std::int64_t value = config.integer(key, otherwise);
    if (value < 0 || value >= o.vocabulary)
      fail<InputError>("gpt2", "config.json: \"", key, "\" is ", value, ", expected one of ", o.vocabulary, " words");
    return static_cast<std::int32_t>(value);
  };
  o.end = id("eos_token_id", o.vocabulary - 1);
  o.start = id("bos_token_id", o.end);
  must(config, "add_cross_attention", false);
  if (config.has("quantization_config") && !holds_int8(config))
    fail<InputError>("gpt2",
                     "config.json: the weights are quantised in a way that is not supported: got "
                     "\"quantization_config\" ",
                     config.json("quantization_config"), "; attend convert --int8 makes ",
                     "int8 out of a folder with plain weights");
  check(o);
  return o;
}

void Gpt2Options::write(Config& config) const {
  config.set("architectures", std::vector<std::string>{labels.empty() ? "GPT2LMHeadModel" : kClassifier});
  if (!labels.empty()) write_labels(config, labels), write_several_labels(config, several_labels);
  config.set("vocab_size", vocabulary), config.set("n_positions", positions);
  config.set("n_embd", width), config.set("n_layer", layers), config.set("n_head", heads);
  if (inner > 0) config.set("n_inner", inner);
  config.set("activation_function", name_of(activation, kActivationNames));
  config.set("layer_norm_epsilon", epsilon), config.set("initializer_range", deviation);
  config.set("resid_pdrop", dropout), config.set("embd_pdrop", embedding_dropout);
  config.set("attn_pdrop", attention_dropout);
  config.set("scale_attn_weights", scale_attention);
  config.set("scale_attn_by_inverse_layer_idx", scale_by_inverse_layer);
  config.set("tie_word_embeddings", tied_output);
  if (!bias) config.set("bias", false);
  config.set("bos_token_id", std::int64_t{start}), config.set("eos_token_id", std::int64_t{end});
}

std::int64_t Gpt2State::longest() const { return lengths.empty() ? 0 : *std::ranges::max_element(lengths); }

void Gpt2State::select(std::span<const std::int64_t> rows) {
  cache.select(rows);
  std::vector<std::int64_t> chosen;
  for (const std::int64_t row : rows) chosen.push_back(lengths[static_cast<std::size_t>(row)]);
  lengths = std::move(chosen);
}

Gpt2Layer::Gpt2Layer(const Gpt2Options& o, std::int64_t index, Generator& generator)
    : attention_norm(o.width, o.epsilon), feed_forward_norm(o.width, o.epsilon), dropout(o.dropout), bias(o.bias) {
  // What is added to the residual starts smaller, since there are two of it in each layer (Radford et al.,
  // section 2.3).
  const float added = o.deviation / std::sqrt(2.f * static_cast<float>(o.layers));
  queries_keys_values = linear_of(o.width, 3 * o.width, o.deviation, o.bias, generator);
  output = linear_of(o.width, o.width, added, o.bias, generator);
  feed_forward.up = linear_of(o.width, o.inner_width(), o.deviation, o.bias, generator);
  feed_forward.down = linear_of(o.inner_width(), o.width, added, o.bias, generator);
  feed_forward.activation = o.activation;
  if (o.scale_attention) scale = 1.f / std::sqrt(static_cast<float>(o.width / o.heads));
  if (o.scale_by_inverse_layer) scale /= static_cast<float>(index + 1);
}

Gpt2::Gpt2(const Gpt2Options& o, Generator& generator)
    : options(o), words(o.vocabulary, o.width, generator, o.deviation), last_norm(o.width, o.epsilon) {
  check(o);
  positions = Tensor::empty({o.positions, o.width});
  init::normal(positions, o.deviation, generator);
  for (std::int64_t i = 0; i < o.layers; ++i) layers.emplace_back(o, i, generator);
  if (!o.tied_output) output = linear_of(o.width, o.vocabulary, o.deviation, false, generator);
  if (!o.labels.empty()) labels = linear_of(o.width, std::ssize(o.labels), o.deviation, false, generator);
}

AddNorm Gpt2::begin(const Tensor& x) const {
  const Tensor dropped = dropout(x, options.embedding_dropout);
  return {dropped, layers.front().attention_norm(dropped)};
}

Tensor Gpt2::states(const Tensor& ids, Probe* probe) const {
  if (ids.rank() != 2 || ids.dim(1) > options.positions)
    fail<InputError>("gpt2", "the texts are too long, or are no texts: got ids ", ids.shape(), ", expected [B, T], T ",
                     options.positions, " at most");
  AddNorm x = begin(words(ids) + slice(positions, 0, 0, ids.dim(1)));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const AttentionOptions how{.mask = Mask::causal(), .scale = layers[i].scale, .dropout = options.attention_dropout};
    x = layers[i](x, norm_after(i), [&](const Tensor& y) {
      const Tensor qkv = layers[i].queries_keys_values(y);
      if (probe) probe->enter("layers." + std::to_string(i));
      if (probe) probe->record(self_attention_weights(qkv, options.heads, how));
      return self_attention(qkv, options.heads, how);
    });
  }
  return x.normed;
}

Tensor Gpt2::say(const Tensor& states) const {
  return (options.tied_output ? Linear(words.weight, {}, words.scales) : output)(states);
}

Tensor Gpt2::read(Texts texts, Gpt2State* state, Probe* probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  Gpt2State unkept;
  Gpt2State& to = state ? *state : unkept;
  to = {KeyValueCache(options.layers), {}};
  std::vector<std::int32_t> ids, places;
  for (const std::span<const std::int32_t> text : texts) {
    if (std::ssize(text) > options.positions)
      fail<InputError>("gpt2", "the text is too long: got ", text.size(), " tokens, the model has positions for ",
                       options.positions);
    for (std::size_t t = 0; t < text.size(); ++t)
      ids.push_back(text[t]), places.push_back(static_cast<std::int32_t>(t));
    to.lengths.push_back(std::ssize(text));
  }
  const auto total = static_cast<std::int64_t>(ids.size());
  AddNorm x = begin(words(Tensor::ids(ids, {total})) + embedding(positions, Tensor::ids(places, {total})));
  for (std::size_t i = 0; i < layers.size(); ++i)
    x = layers[i](x, norm_after(i), [&](const Tensor& y) {
      if (probe) probe->enter("layers." + std::to_string(i));
      return to.cache.begin(i, layers[i].queries(y), layers[i].keys_values(y), to.lengths,
                            {options.heads, layers[i].scale, probe});
    });
  return x.normed;
}

Tensor Gpt2::read_last(Texts texts, Gpt2State& state, Probe* probe) const {
  const Tensor all = read(texts, &state, probe);
  const Tensor last = Tensor::empty({state.rows(), options.width});
  std::int64_t end = 0;
  for (std::int64_t row = 0; row < state.rows(); ++row) {
    const std::int64_t length = state.lengths[static_cast<std::size_t>(row)];
    if (length == 0) fail<InputError>("gpt2", "text ", row, " is empty, expected a token at least");
    end += length;
    std::copy_n(all.data() + (end - 1) * options.width, options.width, last.data() + row * options.width);
  }
  return last;
}

Tensor Gpt2::start(Texts texts, Gpt2State& state) const {
  const NoGrad no_grad;
  return say(read_last(texts, state, nullptr));
}

Tensor Gpt2::label(Texts texts, Probe* probe) const {
  if (options.labels.empty()) fail("gpt2", "this model has no labels");
  const NoGrad no_grad;
  Gpt2State state;
  return labels(read_last(texts, state, probe));
}

Tensor Gpt2::step(const Tensor& ids, Gpt2State& state, Probe* probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  if (ids.shape() != Shape{state.rows()})
    fail("gpt2", "the words do not fit the state: got ", ids.shape(), ", expected [", state.rows(), "]");
  std::vector<std::int32_t> places;
  for (std::int64_t& length : state.lengths) {
    if (length >= options.positions)
      fail<InputError>("gpt2", "the text is too long: the model has positions for ", options.positions, " tokens");
    places.push_back(static_cast<std::int32_t>(length++));
  }
  AddNorm x = begin(words(ids) + embedding(positions, Tensor::ids(places, ids.shape())));
  for (std::size_t i = 0; i < layers.size(); ++i)
    x = layers[i](x, norm_after(i), [&](const Tensor& y) {
      if (probe) probe->enter("layers." + std::to_string(i));
      state.cache.append(i, layers[i].keys_values(y));
      return state.cache.attend(i, layers[i].queries(y), {options.heads, layers[i].scale, probe});
    });
  return say(x.normed);
}

// ---- folders ----

namespace {

constexpr std::string_view kPrefix = "transformer.";

/// Matrices of what Hugging Face calls Conv1D are stored as [in, out]; those of int8 are not Hugging Face's.
bool is_turned(std::string_view name, const Tensor& tensor) {
  return tensor.dtype() == DType::f32 &&
         std::ranges::any_of(std::initializer_list<std::string_view>{"c_attn.weight", "c_proj.weight", "c_fc.weight"},
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

/// [m, n] -> [n, m], into memory that is there.
void turn(const Tensor& from, const Tensor& to) {
  kernels::transpose({.m = from.dim(0), .n = from.dim(1)}, from.data(), to.data());
}

/// With biases of 0 where there were none, or without those that there were.
void set_biases(Gpt2& model, bool on) {
  model.options.bias = on;
  for (Gpt2Layer& layer : model.layers) {
    layer.bias = on;
    for (Linear* part : {&layer.queries_keys_values, &layer.output, &layer.feed_forward.up, &layer.feed_forward.down})
      part->bias = on ? Tensor::zeros({part->weight.dim(0)}) : Tensor();
  }
}

/// Whether any is not 0: somebody may have trained a model further that had none.
bool has_biases(Gpt2& model) {
  bool any = false;
  for_each_parameter(model, [&](const std::string& name, const Tensor& tensor) {
    if (name.ends_with(".bias")) any |= std::ranges::any_of(tensor.span(), [](float bias) { return bias != 0; });
  });
  return any;
}

}  // namespace

Gpt2 load_gpt2(const std::filesystem::path& folder, bool mapped) {
  const Config config(folder / "config.json");
  if (const std::string type = config.text("model_type", ""); type != kGpt2Type)
    fail<InputError>("gpt2", folder.string(), ": holds a model of type \"", type, "\", expected ", kGpt2Type);
  const init::Skipped skipped;
  Gpt2Options o = Gpt2Options::read(config);
  const bool wants_bias = std::exchange(o.bias, true);
  Gpt2 model(o);
  if (holds_int8(config)) {
    if (!mapped)
      fail<InputError>("gpt2", folder.string(), ": holds weights of int8, which can be run, but not trained or ",
                       "converted; take the folder that they were made from");
    expect_int8(model);
  }
  const Weights weights(folder);
  const bool prefixed = weights.contains("transformer.wte.weight");

  std::vector<NamedTensor> stored;  // the parameters as the folder has them
  for (const auto& [name, tensor] : parameters(model)) {
    const bool short_name = !prefixed && name.starts_with(kPrefix);
    stored.push_back({short_name ? name.substr(kPrefix.size()) : name,
                      is_turned(name, tensor) ? Tensor::empty({tensor.dim(1), tensor.dim(0)}) : tensor});
  }
  LoadOptions options;
  if (o.tied_output && !model.quantised()) stored.push_back({"lm_head.weight", model.words.weight});
  for (std::int64_t i = 0; i < o.layers; ++i)  // who sees whom, which older folders hold as tensors
    for (const char* mask : {".attn.bias", ".attn.masked_bias"})
      options.optional.push_back((prefixed ? "transformer.h." : "h.") + std::to_string(i) + mask);
  borrow_parameters(stored, weights, options);

  auto next = stored.begin();
  for_each_parameter(model, [&](const std::string& name, Tensor& tensor) {
    const Tensor found = (next++)->tensor;
    if (is_turned(name, tensor))
      turn(found, tensor);
    else
      tensor = mapped ? found : found.copy();
  });
  stored.clear();
  release_cached_memory();
  if (!wants_bias && !has_biases(model)) set_biases(model, false);
  return model;
}

void save_gpt2(Gpt2& model, const std::filesystem::path& folder) {
  Config config;
  config.set("model_type", std::string(kGpt2Type));
  model.options.write(config);
  if (model.quantised()) config.set("quantization_config", int8_config());
  config.save(folder / "config.json");
  Gpt2 whole = model;  // the same parameters, and biases
  if (!whole.options.bias) set_biases(whole, true);
  std::vector<NamedTensor> stored = parameters(whole);
  for (auto& [name, tensor] : stored) {
    if (!is_turned(name, tensor)) continue;
    const Tensor turned = Tensor::empty({tensor.dim(1), tensor.dim(0)});
    turn(tensor, turned);
    tensor = turned;
  }
  save_safetensors(folder / "model.safetensors", stored);
}

}  // namespace attend
