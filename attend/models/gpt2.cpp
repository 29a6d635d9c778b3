#include "attend/models/gpt2.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/core/error.h"
#include "attend/kernels/movement.h"
#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/models/check_weights.h"
#include "attend/models/labels.h"
#include "attend/models/stored_parameter.h"
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

Linear linear_of(std::int64_t in, std::int64_t out, float deviation, Generator& generator) {
  Tensor weight = Tensor::empty({out, in});
  init::normal(weight, deviation, generator);
  return Linear(weight);
}

/// Initialises queries, keys and values as one matrix, as Hugging Face does with c_attn.
void init_together(MultiHeadAttention& attention, float deviation, Generator& generator) {
  if (init::skipped()) return;
  place_neighbours(attention);
  const std::int64_t width = attention.query.in();
  Tensor whole = Tensor::empty({3 * width, width});
  init::normal(whole, deviation, generator);
  std::int64_t first = 0;
  for (Linear* part : {&attention.query, &attention.key, &attention.value}) {
    std::ranges::copy(whole.view_rows(first, first + width).span(), part->weight.data());
    first += width;
  }
}

constexpr BlockNames kGpt2Names = {
    .self = {"attn.c_attn.query", "attn.c_attn.key", "attn.c_attn.value", "attn.c_proj", "ln_1"},
    .up = "mlp.c_fc",
    .down = "mlp.c_proj",
    .feed_forward_norm = "ln_2"};

constexpr const char* kClassifier = "GPT2ForSequenceClassification";

void must(const Config& config, const char* key, bool expected) {
  if (config.flag(key, expected) != expected)
    fail<InputError>("gpt2", "config.json: \"", key, "\" is ", expected ? "false" : "true", ", which is not supported");
}

void check(const Gpt2Options& o) {
  if (o.vocabulary < 1 || o.positions < 1 || o.layers < 1 || o.width < 1 || o.inner < 0)
    fail<InputError>("gpt2", "all sizes must be positive: got a vocabulary of ", o.vocabulary, " tokens, ", o.positions,
                     " positions, ", o.layers, " layers, width ", o.width, " and inner width ", o.inner_width());
  if (o.heads < 1 || o.width % o.heads != 0)
    fail<InputError>("gpt2", "the width must be a multiple of the heads: got ", o.heads, " heads and width ", o.width);
}

}  // namespace

Gpt2Options Gpt2Options::read(const Config& config) {
  Gpt2Options o;
  o.vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary, o.vocabulary);
  o.positions =
      config.integer_in(config.has("n_positions") ? "n_positions" : "n_ctx", 1, bounds::kPositions, o.positions);
  o.width = config.integer_in("n_embd", 1, bounds::kWidth, o.width);
  o.layers = config.integer_in("n_layer", 1, bounds::kLayers, o.layers);
  o.heads = config.divisor("n_head", o.width, o.heads);
  o.inner = config.integer_in("n_inner", 0, bounds::kInner, 0);
  o.activation = config.choice("activation_function", kActivationNames, {o.activation});
  o.epsilon = config.positive("layer_norm_epsilon", o.epsilon);
  o.deviation = config.positive("initializer_range", o.deviation);
  o.dropout = config.probability("resid_pdrop", o.dropout);
  o.embedding_dropout = config.probability("embd_pdrop", o.embedding_dropout);
  o.attention_dropout = config.probability("attn_pdrop", o.attention_dropout);
  o.scale_attention = config.flag("scale_attn_weights", true);
  o.scale_by_inverse_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  // "reorder_and_upcast_attn" is ignored: it asks for float32 attention, which is always used here.
  o.tied_output = config.flag("tie_word_embeddings", true);
  if (std::ranges::count(config.texts("architectures"), kClassifier) > 0) {
    o.labels = read_labels(config), o.several_labels = read_several_labels(config);
    o.tied_output = true;  // a classifier has no output layer for tokens
  }
  o.bias = config.flag("bias", true);
  const auto id = [&](const char* key, std::int64_t otherwise) {
    return static_cast<std::int32_t>(config.integer_in(key, 0, o.vocabulary - 1, otherwise));
  };
  o.end = id("eos_token_id", o.vocabulary - 1);
  o.start = id("bos_token_id", o.end);
  must(config, "add_cross_attention", false);
  check(o);
  return o;
}

void Gpt2Options::write(Config& config) const {
  config.set("model_type", "gpt2");
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

void Gpt2State::select(std::span<const std::int64_t> rows) {
  cache.select(rows);
  std::vector<std::int64_t> chosen;
  for (const std::int64_t row : rows) chosen.push_back(length(row));
  lengths = std::move(chosen);
}

void Gpt2State::join(GenerationState&& other) {
  const auto& more = static_cast<const Gpt2State&>(other);
  cache.join(more.cache);
  lengths.insert(lengths.end(), more.lengths.begin(), more.lengths.end());
}

Gpt2::Gpt2(const Gpt2Options& o, Generator& generator)
    : options(o), tokens(o.vocabulary, o.width, generator, o.deviation) {
  check(o);
  positions = Tensor::empty({o.positions, o.width});
  init::normal(positions, o.deviation, generator);
  BlockOptions block{.width = o.width,
                     .heads = o.heads,
                     .inner = o.inner_width(),
                     .activation = o.activation,
                     .bias = o.bias,
                     .norm = {.eps = o.epsilon, .bias = o.bias},
                     .pre_norm = true,
                     .causal = true,
                     .dropout = o.dropout,
                     .attention_dropout = o.attention_dropout};
  // Weights whose output is added to the residual are scaled by 1 / √(number of additions), and each layer adds twice
  // (Radford et al. 2019, section 2.3).
  const float added = o.deviation / std::sqrt(2.f * static_cast<float>(o.layers));
  const std::int64_t head_width = o.width / o.heads;
  for (std::int64_t i = 0; i < o.layers; ++i) {
    block.scale = o.scale_attention ? 1.f / std::sqrt(static_cast<float>(head_width)) : 1.f;
    if (o.scale_by_inverse_layer) *block.scale /= static_cast<float>(i + 1);
    const auto made = [&] {
      const init::Skipped later;
      return TransformerBlock(block, kGpt2Names, generator);
    };
    TransformerBlock& layer = decoder.blocks.emplace_back(made());
    FeedForward& network = layer.feed_forward;
    init_together(layer.self_attention, o.deviation, generator);
    init::normal(layer.self_attention.output.weight, added, generator);
    init::normal(network.up.weight, o.deviation, generator);
    init::normal(network.down.weight, added, generator);
  }
  decoder.final_norm = Norm(o.width, {.eps = o.epsilon, .bias = o.bias}), decoder.name = "layers";
  if (!o.tied_output) output = linear_of(o.width, o.vocabulary, o.deviation, generator);
  if (!o.labels.empty()) labels = linear_of(o.width, std::ssize(o.labels), o.deviation, generator);
}

Tensor Gpt2::embed(const Tensor& ids, const Tensor& places) const {
  return dropout(tokens(ids) + places, options.embedding_dropout);
}

Tensor Gpt2::states(const Tensor& ids, Probe* probe) const {
  if (ids.rank() != 2 || ids.dim(1) > options.positions)
    fail<InputError>("gpt2", "the texts are too long or have a wrong shape: got ids ", ids.shape(),
                     ", expected [B, T] with T at most ", options.positions);
  return decoder(embed(ids, slice(positions, 0, 0, ids.dim(1))), {.probe = probe});
}

Tensor Gpt2::logits(const Tensor& states) const {
  return options.tied_output ? tokens.project(states) : output(states);
}

Tensor Gpt2::read(Texts texts, Gpt2State* state, Probe* probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  Gpt2State unkept;
  Gpt2State& to = state ? *state : unkept;
  to = Gpt2State(options.layers);
  std::vector<std::int32_t> ids, places;
  for (const std::span<const std::int32_t> text : texts) {
    if (std::ssize(text) > options.positions)
      fail<InputError>("gpt2", "the text is too long: got ", text.size(), " tokens, the model has positions for ",
                       options.positions);
    for (std::size_t t = 0; t < text.size(); ++t)
      ids.push_back(text[t]), places.push_back(static_cast<std::int32_t>(t));
    to.lengths.push_back(std::ssize(text));
  }
  const Shape shape{static_cast<std::int64_t>(ids.size())};
  const Tensor x = embed(Tensor::ids(ids, shape), embedding(positions, Tensor::ids(places, shape)));
  return decoder(x, {.cache = &to.cache, .lengths = to.lengths, .probe = probe});
}

Tensor Gpt2::read_last(Texts texts, Gpt2State& state, Probe* probe) const {
  const Tensor all = read(texts, &state, probe);
  Tensor last = Tensor::empty({state.rows(), options.width});
  std::int64_t end = 0;
  for (std::int64_t row = 0; row < state.rows(); ++row) {
    if (state.length(row) == 0) fail<InputError>("gpt2", "text ", row, " is empty, expected at least one token");
    end += state.length(row);
    std::copy_n(all.data() + (end - 1) * options.width, options.width, last.data() + row * options.width);
  }
  return last;
}

Tensor Gpt2::start(Texts texts, Gpt2State& state) const {
  const NoGrad no_grad;
  return logits(read_last(texts, state, nullptr));
}

StartedGeneration Gpt2::start(std::span<const GenerationInput> inputs) const {
  std::vector<std::span<const std::int32_t>> texts;
  for (const GenerationInput& input : inputs) texts.push_back(input.prompt);
  auto state = std::make_unique<Gpt2State>(options.layers);
  Tensor next = start(texts, *state);
  return {std::move(state), std::move(next)};
}

Tensor Gpt2::label(Texts texts, Probe* probe) const {
  if (options.labels.empty()) fail("gpt2", "this model has no labels");
  const NoGrad no_grad;
  Gpt2State state;
  return labels(read_last(texts, state, probe));
}

Tensor Gpt2::step(const Tensor& ids, GenerationState& state) const {
  return step(ids, static_cast<Gpt2State&>(state), nullptr);
}

Tensor Gpt2::step(const Tensor& ids, Gpt2State& state, Probe* probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  if (ids.shape() != Shape{state.rows()})
    fail("gpt2", "expected one token for each sequence: got ids ", ids.shape(), ", expected [", state.rows(), "]");
  std::vector<std::int32_t> places;
  for (std::int64_t& length : state.lengths) {
    if (length >= options.positions)
      fail<InputError>("gpt2", "the text is too long: the model has positions for ", options.positions, " tokens");
    places.push_back(static_cast<std::int32_t>(length++));
  }
  const Tensor x = embed(ids, embedding(positions, Tensor::ids(places, ids.shape())));
  return logits(decoder(x, {.cache = &state.cache, .probe = probe}));
}

// ---- folders ----

namespace {

constexpr std::string_view kPrefix = "transformer.";

/// The parameters as a folder stores them: c_attn holds three.
std::vector<StoredParameter> stored_of(Gpt2& model) {
  return stored_parameters_of(model, [&](std::string name) { return model.stored_name(std::move(name)); });
}

/// Whether a parameter is stored as [in, out], as Hugging Face's Conv1D is; int8 matrices are not.
bool is_transposed(const StoredParameter& one) {
  return one.parts.front()->dtype() == DType::f32 &&
         (one.name.ends_with(".c_attn.weight") || one.name.ends_with(".c_proj.weight") ||
          one.name.ends_with(".c_fc.weight"));
}

/// [m, n] -> [n, m]
Tensor transposed(const Tensor& from) {
  Tensor to = Tensor::empty({from.dim(1), from.dim(0)});
  kernels::transpose({.m = from.dim(0), .n = from.dim(1)}, from.data(), to.data());
  return to;
}

/// Sets all biases to 0, or removes them.
void set_biases(Gpt2& model, bool on) {
  model.options.bias = on;
  const auto norm = [on](Norm& layer) { layer.bias = on ? Tensor::zeros(layer.gain.shape()) : Tensor(); };
  for (TransformerBlock& block : model.decoder.blocks) {
    MultiHeadAttention& attention = block.self_attention;
    for (Linear* part : {&attention.query, &attention.key, &attention.value, &attention.output, &block.feed_forward.up,
                         &block.feed_forward.down})
      part->bias = on ? Tensor::zeros({part->out()}) : Tensor();
    norm(block.self_norm), norm(block.feed_forward_norm);
  }
  norm(model.decoder.final_norm);
}

/// Whether any bias is not 0. A model that was saved without biases may have been trained further with them.
bool has_biases(Gpt2& model) {
  bool any = false;
  for_each_parameter(model, [&](const std::string& name, const Tensor& tensor) {
    if (name.ends_with(".bias")) any |= std::ranges::any_of(tensor.span(), [](float bias) { return bias != 0; });
  });
  return any;
}

}  // namespace

Linear joined_projections(const MultiHeadAttention& attention) {
  const auto join = [](const Tensor& query, const Tensor& key, const Tensor& value) {
    return query.defined() ? concat({query, key, value}, 0) : Tensor();
  };
  const Linear &query = attention.query, &key = attention.key, &value = attention.value;
  return Linear(join(query.weight, key.weight, value.weight), join(query.bias, key.bias, value.bias));
}

Gpt2 load_gpt2(const Config& config, const Weights& weights, bool mapped) {
  const init::Skipped skipped;
  Gpt2Options o = Gpt2Options::read(config);
  check_layers("gpt2", config, weights, "h.", "n_layer", o.layers);
  check_parameters(
      "gpt2", config, weights,
      static_cast<double>(o.width) * static_cast<double>(o.vocabulary + o.positions + std::ssize(o.labels)) +
          static_cast<double>(o.layers) * block_parameters(o.width, o.width, o.inner_width()));
  const bool wants_bias = std::exchange(o.bias, true);
  Gpt2 model(o);
  expect_precision("gpt2", config, mapped, model);
  const bool prefixed = weights.contains("transformer.wte.weight");

  const std::vector<StoredParameter> all = stored_of(model);
  std::vector<NamedTensor> stored;
  for (const StoredParameter& one : all) {
    const bool short_name = !prefixed && one.name.starts_with(kPrefix);
    const Tensor& first = *one.parts.front();
    const Shape shape = one.shape();
    const bool as_is = one.parts.size() == 1 && !is_transposed(one);
    stored.push_back(
        {short_name ? one.name.substr(kPrefix.size()) : one.name,
         as_is ? first : Tensor::empty(is_transposed(one) ? Shape{shape[1], shape[0]} : shape, first.dtype())});
  }
  LoadOptions options;
  if (o.tied_output && !model.quantised()) stored.push_back({"lm_head.weight", model.tokens.weight});
  for (std::int64_t i = 0; i < o.layers; ++i)  // causal masks, which older folders hold as tensors
    for (const char* mask : {".attn.bias", ".attn.masked_bias"})
      options.optional.push_back((prefixed ? "transformer.h." : "h.") + std::to_string(i) + mask);
  borrow_parameters(stored, weights, options);

  for (std::size_t i = 0; i < all.size(); ++i) {
    Tensor whole = std::exchange(stored[i].tensor, {});
    if (is_transposed(all[i]))
      whole = transposed(whole);
    else if (!mapped)
      whole = whole.copy();
    all[i].assign(whole);
  }
  stored.clear();
  release_cached_memory();
  if (!wants_bias && !has_biases(model)) set_biases(model, false);
  return model;
}

std::string Gpt2::stored_name(std::string name) const {
  constexpr std::string_view kJoined = ".c_attn.";
  if (const std::size_t joined = name.find(kJoined); joined != std::string::npos) {
    const std::size_t part = joined + kJoined.size();
    name.erase(part, name.find('.', part) + 1 - part);  // "query.", "key." or "value."
  }
  return name;
}

Config Gpt2::config() const {
  Config config;
  options.write(config);
  return config;
}

std::vector<NamedTensor> Gpt2::stored_parameters() {
  Gpt2 whole = *this;  // shares the parameters, and gets biases
  if (!whole.options.bias) set_biases(whole, true);
  std::vector<NamedTensor> stored;
  for (const StoredParameter& one : stored_of(whole))
    stored.push_back({one.name, is_transposed(one) ? transposed(one.joined()) : one.joined()});
  return stored;
}

}  // namespace attend
