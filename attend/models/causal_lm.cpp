#include "attend/models/causal_lm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
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
#include "attend/ops/activation.h"
#include "attend/ops/arithmetic.h"
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

/// Initialises queries, keys and values as one matrix, as Hugging Face does with GPT-2's c_attn.
void init_together(MultiHeadAttention& attention, float deviation, Generator& generator) {
  place_neighbours(attention);
  Linear* const parts[] = {&attention.query, &attention.key, &attention.value};
  std::int64_t rows = 0;
  for (const Linear* part : parts) rows += part->out();
  Tensor whole = Tensor::empty({rows, attention.query.in()});
  init::normal(whole, deviation, generator);
  std::int64_t first = 0;
  for (Linear* part : parts) {
    std::ranges::copy(whole.view_rows(first, first + part->out()).span(), part->weight.data());
    first += part->out();
  }
}

/// Gives the layers of a block biases of 0, or none.
void set_biases_of(TransformerBlock& block, const CausalLmOptions& o) {
  const auto set = [](Linear& layer, bool on) {
    if (layer.defined()) layer.bias = on ? Tensor::zeros({layer.out()}) : Tensor();
  };
  MultiHeadAttention& attention = block.self_attention;
  for (Linear* part : {&attention.query, &attention.key, &attention.value}) set(*part, o.attention_bias);
  set(attention.output, o.attention_output_bias);
  FeedForward& network = block.feed_forward;
  for (Linear* part : {&network.gate, &network.up, &network.down}) set(*part, o.feed_forward_bias);
}

/// The key of the epsilon of the norms.
const char* norm_key(const CausalLmOptions& o) {
  return o.norm.kind == NormKind::rms_norm ? "rms_norm_eps" : "layer_norm_eps";
}

constexpr std::string_view kClassifier = "ForSequenceClassification";

void check(const CausalLmOptions& o) {
  if (o.vocabulary < 1 || o.positions < 1 || o.layers < 1 || o.width < 1 || o.inner < 0 || o.head_dim < 0)
    fail<InputError>("language model", "all sizes must be positive: got a vocabulary of ", o.vocabulary, " tokens, ",
                     o.positions, " positions, ", o.layers, " layers, width ", o.width, " and inner width ",
                     o.inner_width());
  if (o.heads < 1 || (o.head_dim == 0 && o.width % o.heads != 0))
    fail<InputError>("language model", "the width must be a multiple of the heads: got ", o.heads, " heads and width ",
                     o.width);
  if (o.kv_heads < 0 || o.heads % o.key_heads() != 0)
    fail<InputError>("language model", "the heads must be a multiple of the key and value heads: got ", o.heads,
                     " and ", o.kv_heads);
  for (const std::size_t count : {o.windows.size(), o.rotates.size()})
    if (count != 0 && std::cmp_not_equal(count, o.layers))
      fail("language model", "each layer needs an entry: got ", count, " for ", o.layers, " layers");
}

bool is_modern(const CausalLmFamily& family) { return *family.names.positions == '\0'; }

}  // namespace

CausalLmOptions CausalLmOptions::of(const CausalLmFamily& family) {
  CausalLmOptions o;
  o.family = &family;
  if (!is_modern(family)) return o;
  o.norm = {.kind = NormKind::rms_norm, .eps = 1e-6f, .bias = false};
  o.activation = Activation::silu, o.gated = true, o.rotary = RotaryParameters();
  o.set_biases(false);
  o.scaled_residuals = o.tied_output = false;
  o.dropout = o.embedding_dropout = o.attention_dropout = 0.f;
  return o;
}

CausalLmOptions CausalLmOptions::read(const Config& config, const CausalLmFamily& family) {
  CausalLmOptions o = of(family);
  family.read(config, o);
  if (std::ranges::count(config.texts("architectures"), std::string(family.class_name) + std::string(kClassifier))) {
    o.labels = read_labels(config), o.several_labels = read_several_labels(config);
    o.tied_output = true;  // a classifier has no output layer for tokens
  }
  check(o);
  return o;
}

void CausalLmOptions::write(Config& config) const {
  config.set("model_type", std::string(family->type));
  config.set("architectures", std::vector<std::string>{std::string(family->class_name) +
                                                       std::string(labels.empty() ? family->lm_class : kClassifier)});
  if (!labels.empty()) write_labels(config, labels), write_several_labels(config, several_labels);
  family->write(*this, config);
}

void CausalLmState::select(std::span<const std::int64_t> rows) {
  cache.select(rows);
  std::vector<std::int64_t> chosen;
  std::vector<std::vector<std::int32_t>> chosen_texts;
  for (const std::int64_t row : rows) {
    chosen.push_back(length(row));
    if (!texts.empty()) chosen_texts.push_back(texts[static_cast<std::size_t>(row)]);
  }
  lengths = std::move(chosen), texts = std::move(chosen_texts);
}

void CausalLmState::join(GenerationState&& other) {
  const auto& more = static_cast<const CausalLmState&>(other);
  cache.join(more.cache);
  lengths.insert(lengths.end(), more.lengths.begin(), more.lengths.end());
  texts.insert(texts.end(), more.texts.begin(), more.texts.end());
}

CausalLm::CausalLm(const CausalLmOptions& o, Generator& generator)
    : options(o), tokens(o.vocabulary, o.width, generator, o.deviation) {
  check(o);
  if (o.scale_embedding) tokens.scale = std::sqrt(static_cast<float>(o.width));
  const std::int64_t head_dim = o.head_width();
  if (o.rotary) {
    angles = RotaryAngles(*o.rotary, head_dim);
  } else {
    positions = Tensor::empty({o.positions, o.width});
    init::normal(positions, o.deviation, generator);
  }
  BlockOptions block{.width = o.width,
                     .heads = o.heads,
                     .kv_heads = o.kv_heads,
                     .head_dim = o.head_dim,
                     .inner = o.inner_width(),
                     .activation = o.activation,
                     .gated = o.gated,
                     .norm = o.norm,
                     .head_norm = o.head_norm,
                     .output_norm = o.output_norm,
                     .parallel = o.parallel,
                     .score_cap = o.score_cap,
                     .pre_norm = true,
                     .causal = true,
                     .dropout = o.dropout,
                     .attention_dropout = o.attention_dropout};
  // Weights whose output is added to the residual are scaled by 1 / √(number of additions), and each layer adds twice
  // (Radford et al. 2019, section 2.3).
  const float added = o.scaled_residuals ? o.deviation / std::sqrt(2.f * static_cast<float>(o.layers)) : o.deviation;
  const double scalar = o.score_scalar.value_or(static_cast<double>(head_dim));
  for (std::size_t i = 0; std::cmp_less(i, o.layers); ++i) {
    block.scale = o.scale_attention ? 1.f / std::sqrt(static_cast<float>(scalar)) : 1.f;
    if (o.scale_by_inverse_layer) *block.scale /= static_cast<float>(i + 1);
    block.rotates = o.rotary && (o.rotates.empty() || o.rotates[i]);
    block.window = o.windows.empty() ? -1 : o.windows[i];
    const auto made = [&] {
      const init::Skipped later;
      return TransformerBlock(block, o.family->names.block, generator);
    };
    TransformerBlock& layer = decoder.blocks.emplace_back(made());
    MultiHeadAttention& attention = layer.self_attention;
    FeedForward& network = layer.feed_forward;
    set_biases_of(layer, o);
    if (init::skipped()) continue;
    init_together(attention, o.deviation, generator);
    init::normal(attention.output.weight, added, generator);
    place_neighbours(network);
    if (network.gate.defined()) init::normal(network.gate.weight, o.deviation, generator);
    init::normal(network.up.weight, o.deviation, generator);
    init::normal(network.down.weight, added, generator);
  }
  decoder.final_norm = Norm(o.width, o.norm), decoder.name = "layers";
  if (!o.tied_output) output = linear_of(o.width, o.vocabulary, o.deviation, generator);
  if (!o.labels.empty()) labels = linear_of(o.width, std::ssize(o.labels), o.deviation, generator);
}

Tensor CausalLm::embed(const Tensor& ids, const Tensor& places) const {
  const Tensor x = tokens(ids);
  return dropout(places.defined() ? x + places : x, options.embedding_dropout);
}

namespace {

/// 0, 1, …, count - 1.
std::vector<std::int32_t> counted_up(std::int64_t count) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Tensor CausalLm::states(const Tensor& ids, Probe* probe) const {
  if (ids.rank() != 2 || ids.dim(1) > options.positions)
    fail<InputError>("language model", "the texts are too long or have a wrong shape: got ids ", ids.shape(),
                     ", expected [B, T] with T at most ", options.positions);
  const std::int64_t T = ids.dim(1);
  if (!angles.defined()) return decoder(embed(ids, slice(positions, 0, 0, T)), {.probe = probe});
  const RotaryTable rotary = angles(counted_up(T), std::vector(static_cast<std::size_t>(T), T));
  return decoder(embed(ids, {}), {.rotary = rotary, .probe = probe});
}

Tensor CausalLm::logits(const Tensor& states) const {
  const Tensor all = options.tied_output ? tokens.project(states) : output(states);
  return options.logit_cap > 0 ? tanh(all * (1 / options.logit_cap)) * options.logit_cap : all;
}

/// Runs the decoder with a cache over tokens at these places, the row of each in its text; see BlockPass.
Tensor CausalLm::run(const Tensor& ids, std::span<const std::int32_t> places,
                     std::span<const std::int64_t> lengths_of_texts, BlockPass pass) const {
  const Shape shape{std::ssize(places)};
  if (!angles.defined()) return decoder(embed(ids, embedding(positions, Tensor::ids(places, shape))), pass);
  pass.rotary = angles(places, lengths_of_texts);
  pass.positions = Tensor::ids(counted_up(std::ssize(places)), shape);
  return decoder(embed(ids, {}), pass);
}

void CausalLm::check_length(std::span<const std::int32_t> text) const {
  if (std::ssize(text) > options.positions)
    fail<InputError>("language model", "the text is too long: got ", text.size(),
                     " tokens, the model has positions for ", options.positions);
}

Tensor CausalLm::read(Texts texts, CausalLmState* state, Probe* probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  CausalLmState unkept;
  CausalLmState& to = state ? *state : unkept;
  to = CausalLmState(options.layers);
  std::vector<std::int32_t> ids, places;
  std::vector<std::int64_t> lengths;
  for (const std::span<const std::int32_t> text : texts) {
    check_length(text);
    for (std::size_t t = 0; t < text.size(); ++t)
      ids.push_back(text[t]), places.push_back(static_cast<std::int32_t>(t)), lengths.push_back(std::ssize(text));
    to.lengths.push_back(std::ssize(text));
    if (angles.short_length() > 0) to.texts.emplace_back(text.begin(), text.end());
  }
  return run(Tensor::ids(ids, {std::ssize(ids)}), places, lengths,
             {.cache = &to.cache, .lengths = to.lengths, .probe = probe});
}

Tensor CausalLm::read_last(Texts texts, CausalLmState& state, Probe* probe) const {
  const Tensor all = read(texts, &state, probe);
  Tensor last = Tensor::empty({state.rows(), options.width});
  std::int64_t end = 0;
  for (std::int64_t row = 0; row < state.rows(); ++row) {
    if (state.length(row) == 0)
      fail<InputError>("language model", "text ", row, " is empty, expected at least one token");
    end += state.length(row);
    std::copy_n(all.data() + (end - 1) * options.width, options.width, last.data() + row * options.width);
  }
  return last;
}

Tensor CausalLm::start(Texts texts, CausalLmState& state) const {
  const NoGrad no_grad;
  return logits(read_last(texts, state, nullptr));
}

Tensor CausalLm::label(Texts texts, Probe* probe) const {
  if (options.labels.empty()) fail("language model", "this model has no labels");
  const NoGrad no_grad;
  CausalLmState state;
  return labels(read_last(texts, state, probe));
}

Tensor CausalLm::step(const Tensor& ids, GenerationState& state) const {
  return step(ids, static_cast<CausalLmState&>(state), nullptr);
}

Tensor CausalLm::step(const Tensor& ids, CausalLmState& state, Probe* probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  if (ids.shape() != Shape{state.rows()})
    fail("language model", "expected one token for each sequence: got ids ", ids.shape(), ", expected [", state.rows(),
         "]");
  for (const std::int64_t length : state.lengths)
    if (length >= options.positions)
      fail<InputError>("language model", "the text is too long: the model has positions for ", options.positions,
                       " tokens");
  const std::int64_t most = angles.short_length();
  if (most == 0 || std::ranges::find(state.lengths, most) == state.lengths.end())
    return logits(advance(ids, state, probe));
  return logits(advance_over(most, ids, state, probe));
}

Tensor CausalLm::advance(const Tensor& ids, CausalLmState& state, Probe* probe) const {
  std::vector<std::int32_t> places;
  for (std::size_t row = 0; row < state.lengths.size(); ++row) {
    places.push_back(static_cast<std::int32_t>(state.lengths[row]++));
    if (!state.texts.empty()) state.texts[row].push_back(ids.data<std::int32_t>()[row]);
  }
  return run(ids, places, state.lengths, {.cache = &state.cache, .probe = probe});
}

/// A text that becomes longer than `most` tokens gets other rotary frequencies, so all of its tokens are read again.
Tensor CausalLm::advance_over(std::int64_t most, const Tensor& ids, CausalLmState& state, Probe* probe) const {
  if (probe) fail("language model", "attention of texts that change their rotary frequencies cannot be recorded");
  const std::int64_t rows = state.rows();
  std::vector<std::int64_t> kept, turned;
  for (std::int64_t row = 0; row < rows; ++row) (state.length(row) == most ? turned : kept).push_back(row);
  std::vector<std::vector<std::int32_t>> longer;
  for (const std::int64_t row : turned) {
    longer.push_back(state.texts[static_cast<std::size_t>(row)]);
    longer.back().push_back(ids.data<std::int32_t>()[row]);
  }
  CausalLmState again;
  const std::vector<std::span<const std::int32_t>> spans(longer.begin(), longer.end());
  const Tensor last = read_last(spans, again, nullptr);
  Tensor states = last;
  if (kept.empty()) {
    state = std::move(again);
  } else {
    state.select(kept);
    std::vector<std::int32_t> others;
    for (const std::int64_t row : kept) others.push_back(ids.data<std::int32_t>()[row]);
    states = concat({advance(Tensor::ids(others, {std::ssize(others)}), state, nullptr), last}, 0);
    state.join(std::move(again));
  }
  // Back to the order of the rows.
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::int64_t at = 0;
  for (const std::vector<std::int64_t>* part : {&kept, &turned})
    for (const std::int64_t row : *part) order[static_cast<std::size_t>(row)] = at++;
  state.select(order);
  Tensor sorted = Tensor::like(states);
  for (std::int64_t row = 0; row < rows; ++row)
    std::ranges::copy(
        states.view_rows(order[static_cast<std::size_t>(row)], order[static_cast<std::size_t>(row)] + 1).span(),
        sorted.data() + row * options.width);
  return sorted;
}

// ---- folders ----

Tensor transposed(const Tensor& from) {
  Tensor to = Tensor::empty({from.dim(1), from.dim(0)});
  kernels::transpose({.m = from.dim(0), .n = from.dim(1)}, from.data(), to.data());
  return to;
}

std::string CausalLm::stored_name(std::string name) const {
  for (const std::string_view joined : options.family->names.joined)
    if (const std::size_t at = name.find(std::string(joined) + "."); at != std::string::npos) {
      const std::size_t part = at + joined.size();
      name.erase(part, name.find('.', part + 1) - part);  // ".query", ".key" or ".value"
    }
  return name;
}

namespace {

/// The parameters as a folder stores them: some tensors hold several.
std::vector<StoredParameter> stored_of(CausalLm& model) {
  return stored_parameters_of(model, [&](std::string name) { return model.stored_name(std::move(name)); });
}

/// A tensor of a folder and its relation to the parameters that it holds.
struct StoredTensorForm {
  bool transposed = false, by_head = false;

  StoredTensorForm(const CausalLm& model, const StoredParameter& one) {
    const StoredMatrices kind = model.options.family->matrices;
    by_head = kind == StoredMatrices::joined_by_head && one.parts.size() > 1;
    if (kind != StoredMatrices::transposed || one.parts.front()->dtype() == DType::i8) return;
    const BlockNames& names = model.options.family->names.block;
    transposed = one.name.ends_with(".c_attn.weight");
    for (const char* name : {names.self.output, names.up, names.down})
      transposed |= one.name.ends_with("." + std::string(name) + ".weight");
  }
  bool as_is() const { return !transposed && !by_head; }
};

/// Sets all biases to 0, or removes them.
void set_biases(CausalLm& model, bool on) {
  model.options.set_biases(on);
  for (TransformerBlock& block : model.decoder.blocks) {
    set_biases_of(block, model.options);
    for (Norm* norm : {&block.self_norm, &block.feed_forward_norm})
      norm->bias = on ? Tensor::zeros(norm->gain.shape()) : Tensor();
  }
  Norm& last = model.decoder.final_norm;
  last.bias = on ? Tensor::zeros(last.gain.shape()) : Tensor();
}

/// Whether any bias is not 0. A model that was saved without biases may have been trained further with them.
bool has_biases(CausalLm& model) {
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

CausalLm load_causal_lm(const Config& config, const Weights& weights, const CausalLmFamily& family, bool mapped) {
  const init::Skipped skipped;
  const CausalLmFamily::Names& names = family.names;
  CausalLmOptions o = CausalLmOptions::read(config, family);
  check_layers("language model", config, weights, std::string(names.layers) + ".", names.layers_key, o.layers);
  check_parameters(
      "language model", config, weights,
      static_cast<double>(o.width) *
              static_cast<double>(o.vocabulary + (o.rotary ? 0 : o.positions) + std::ssize(o.labels)) +
          static_cast<double>(o.layers) * block_parameters(o.width, o.key_heads() * o.head_width(), o.inner_width()));
  const bool drop_biases = family.stores_biases && !o.norm.bias;
  if (drop_biases) o.set_biases(true);
  CausalLm model(o);
  expect_precision("language model", config, mapped, model);
  const std::string prefix = names.prefix;
  const bool prefixed = weights.contains(prefix + names.embedding + ".weight");
  std::set<const Tensor*> matrices;
  model.visit_matrices([&](Tensor& weight, const Tensor&) { matrices.insert(&weight); });

  const std::vector<StoredParameter> all = stored_of(model);
  std::vector<NamedTensor> stored;
  for (const StoredParameter& one : all) {
    const std::string name = !prefixed && one.name.starts_with(prefix) ? one.name.substr(prefix.size()) : one.name;
    const StoredTensorForm form(model, one);
    const Tensor& first = *one.parts.front();
    DType dtype = first.dtype();
    if (mapped && dtype == DType::f32 && matrices.contains(&first) && !form.transposed && weights.contains(name))
      if (const DType held = weights.get(name).dtype(); held == DType::f16 || held == DType::bf16) dtype = held;
    const Shape shape = one.shape();
    const bool borrows = one.parts.size() == 1 && form.as_is() && dtype == first.dtype();
    stored.push_back(
        {name, borrows ? first : Tensor::empty(form.transposed ? Shape{shape[1], shape[0]} : shape, dtype)});
  }
  LoadOptions options;
  if (o.tied_output && !model.quantised()) {
    const auto table = std::ranges::find_if(
        all, [&](const StoredParameter& one) { return one.parts.front() == &model.tokens.weight; });
    stored.push_back(
        {std::string(names.output) + ".weight", stored[static_cast<std::size_t>(table - all.begin())].tensor});
  }
  // Causal masks and rotary frequencies, which older folders hold as tensors.
  const std::string layers = (prefixed ? prefix : "") + names.layers + ".";
  for (std::int64_t i = 0; i < o.layers; ++i)
    for (const char* name : {".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias",
                             ".attention.rotary_emb.inv_freq", ".self_attn.rotary_emb.inv_freq"})
      options.optional.push_back(layers + std::to_string(i) + name);
  borrow_parameters(stored, weights, options);

  for (std::size_t i = 0; i < all.size(); ++i) {
    Tensor whole = std::exchange(stored[i].tensor, {});
    const StoredTensorForm form(model, all[i]);
    if (form.transposed)
      whole = transposed(whole);
    else if (form.by_head)
      whole = regrouped(whole, o.heads, 3);
    else if (!mapped)
      whole = whole.copy();
    all[i].assign(whole);
  }
  stored.clear();
  if (!mapped) model.decoder.place_neighbours();
  release_cached_memory();
  if (drop_biases && !has_biases(model)) set_biases(model, false);
  return model;
}

Config CausalLm::config() const {
  Config config;
  options.write(config);
  return config;
}

std::vector<NamedTensor> CausalLm::stored_parameters() {
  CausalLm whole = *this;  // shares the parameters, and may get biases
  if (options.family->stores_biases && !options.norm.bias) set_biases(whole, true);
  std::vector<NamedTensor> stored;
  for (const StoredParameter& one : stored_of(whole)) {
    const StoredTensorForm form(whole, one);
    const Tensor joined = one.joined();
    stored.push_back({one.name, form.transposed ? transposed(joined)
                                : form.by_head  ? regrouped(joined, 3, options.heads)
                                                : joined});
  }
  return stored;
}

// ---- keys of config.json that families share ----

void require_flag(const Config& config, const char* key, bool expected) {
  if (config.flag(key, expected) != expected)
    fail<InputError>("language model", "config.json: \"", key, "\" is ", expected ? "false" : "true",
                     ", which is not supported");
}

void read_text_ends(const Config& config, CausalLmOptions& o) {
  const std::int64_t last = o.vocabulary - 1;
  o.start = static_cast<std::int32_t>(std::min<std::int64_t>(o.start, last));
  const auto own = static_cast<std::int32_t>(std::min<std::int64_t>(o.ends.front(), last));
  o.ends.clear();
  for (const std::int64_t id : config.integers("eos_token_id")) {
    if (id < 0 || id > last)
      fail<InputError>("language model", "config.json: \"eos_token_id\" is ", id, ", expected 0 to ", last);
    o.ends.push_back(static_cast<std::int32_t>(id));
  }
  if (o.ends.empty()) o.ends = {own};
  const bool ends_alone = config.has("eos_token_id") && !config.has("bos_token_id");
  o.start = static_cast<std::int32_t>(
      config.integer_in("bos_token_id", 0, last, std::int64_t{ends_alone ? o.end() : o.start}));
}

void write_text_ends(const CausalLmOptions& o, Config& config) {
  config.set("bos_token_id", std::int64_t{o.start});
  if (o.ends.size() == 1) return config.set("eos_token_id", std::int64_t{o.end()});
  config.set("eos_token_id", std::vector<std::int64_t>(o.ends.begin(), o.ends.end()));
}

RotaryParameters read_rotary(const Config& config, std::int64_t positions, const RotaryParameters& defaults) {
  RotaryParameters own = defaults;
  own.theta = config.number("rope_theta", own.theta);
  own.partial = config.positive("partial_rotary_factor", own.partial);
  return RotaryParameters::read(config.object("rope_parameters"), config.object("rope_scaling"), positions, own);
}

void write_rotary(const CausalLmOptions& o, Config& config) {
  if (!o.rotary) return;
  const Config parameters = o.rotary->write();
  config.set("rope_parameters", parameters);
  // The keys of transformers before version 5.
  config.set("rope_theta", o.rotary->theta);
  if (o.rotary->partial != 1) config.set("partial_rotary_factor", o.rotary->partial);
  if (o.rotary->scaling != RotaryScaling::none) config.set("rope_scaling", parameters);
}

void read_causal_lm_keys(const Config& config, CausalLmOptions& o) {
  const auto size = [&](const char* key, std::int64_t most, std::int64_t otherwise) {
    return config.integer_in(key, 1, most, otherwise);
  };
  o.vocabulary = size("vocab_size", bounds::kVocabulary, o.vocabulary);
  o.width = size("hidden_size", bounds::kWidth, o.width);
  o.inner = size("intermediate_size", bounds::kInner, o.inner);
  o.layers = size("num_hidden_layers", bounds::kLayers, o.layers);
  o.heads = size("num_attention_heads", bounds::kWidth, o.heads);
  o.kv_heads = config.divisor("num_key_value_heads", o.heads,
                              o.kv_heads > 0 && o.heads % o.kv_heads == 0 ? o.kv_heads : o.heads);
  if (o.head_dim > 0 || config.has("head_dim")) o.head_dim = size("head_dim", bounds::kWidth, o.head_dim);
  o.positions = size("max_position_embeddings", bounds::kPositions, o.positions);
  const char* activation = config.has("hidden_activation") ? "hidden_activation" : "hidden_act";
  o.activation = config.choice(activation, kActivationNames, {o.activation});
  o.norm.eps = config.positive(norm_key(o), o.norm.eps);
  o.deviation = config.positive("initializer_range", o.deviation);
  o.attention_dropout = config.probability("attention_dropout", o.attention_dropout);
  o.tied_output = config.flag("tie_word_embeddings", o.tied_output);
  o.rotary = read_rotary(config, o.positions, *o.rotary);
  read_text_ends(config, o);
}

void write_causal_lm_keys(const CausalLmOptions& o, Config& config) {
  config.set("vocab_size", o.vocabulary), config.set("hidden_size", o.width);
  config.set("intermediate_size", o.inner_width()), config.set("num_hidden_layers", o.layers);
  config.set("num_attention_heads", o.heads), config.set("num_key_value_heads", o.key_heads());
  config.set("head_dim", o.head_width()), config.set("max_position_embeddings", o.positions);
  config.set("hidden_act", name_of(o.activation, kActivationNames));
  config.set(norm_key(o), o.norm.eps), config.set("initializer_range", o.deviation);
  config.set("attention_dropout", o.attention_dropout), config.set("tie_word_embeddings", o.tied_output);
  write_rotary(o, config);
  write_text_ends(o, config);
  config.set_null("pad_token_id");  // without the key, transformers takes one that may be outside of the vocabulary
}

namespace {
constexpr const char *kFull = "full_attention", *kSliding = "sliding_attention";
}  // namespace

void read_windows(const Config& config, CausalLmOptions& o, std::int64_t otherwise,
                  bool (*sliding)(const Config& config, std::int64_t i)) {
  constexpr const char *kWindow = "sliding_window", *kTypes = "layer_types";
  std::int64_t window = config.is_null(kWindow) ? 0 : otherwise;
  if (config.has(kWindow)) window = config.integer_in(kWindow, 1, bounds::kPositions);
  const std::vector<std::string> types = config.texts(kTypes);
  if (!types.empty() && std::ssize(types) != o.layers)
    fail<InputError>("language model", "config.json: \"", kTypes, "\" has ", types.size(), " entries, expected ",
                     o.layers);
  for (std::int64_t i = 0; i < o.layers; ++i) {
    const std::string type =
        types.empty() ? (sliding(config, i) ? kSliding : kFull) : types[static_cast<std::size_t>(i)];
    if (type != kFull && type != kSliding)
      fail<InputError>("language model", "config.json: \"", kTypes, "\" has \"", type, "\", expected ", kFull, " or ",
                       kSliding);
    o.windows.push_back(type == kSliding && window > 0 ? window - 1 : -1);
  }
}

void write_windows(const CausalLmOptions& o, Config& config, bool by_layer) {
  const auto first = std::ranges::find_if(o.windows, [](std::int64_t window) { return window >= 0; });
  const bool any = first != o.windows.end();
  any ? config.set("sliding_window", *first + 1) : config.set_null("sliding_window");
  if (!by_layer) return;
  std::vector<std::string> types(static_cast<std::size_t>(o.layers), kFull);
  for (std::size_t i = 0; i < o.windows.size(); ++i)
    if (o.windows[i] >= 0) types[i] = kSliding;
  config.set("layer_types", types), config.set("use_sliding_window", any);
  config.set("max_window_layers", any ? first - o.windows.begin() : o.layers);
}

}  // namespace attend
