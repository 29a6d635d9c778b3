#include "attend/models/transformer.h"

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/data/batches.h"
#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/models/check_weights.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/check.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding.h"
#include "attend/ops/tape.h"
#include "attend/text/letter_case.h"

namespace attend {
namespace {

BlockOptions block_options(const TransformerOptions& o, bool decoder) {
  return {.width = o.width,
          .heads = decoder ? o.decoder_heads : o.encoder_heads,
          .head_dim = o.head_dim,
          .inner = decoder ? o.decoder_inner : o.encoder_inner,
          .activation = o.activation,
          .gated = o.gated,
          .bias = o.bias,
          .norm = o.norm,
          .pre_norm = o.pre_norm,
          .causal = decoder,
          .cross = decoder,
          .scale = o.scale_scores ? std::nullopt : std::optional(1.f),
          .dropout = o.dropout,
          .attention_dropout = o.attention_dropout,
          .activation_dropout = o.activation_dropout};
}

void check(const TransformerOptions& o) {
  if (o.source_vocabulary < 1 || o.target_vocabulary < 1 || o.encoder_layers < 0 || o.decoder_layers < 1)
    fail<InputError>("transformer", "expected two vocabularies and at least one decoder layer: got vocabularies of ",
                     o.source_vocabulary, " and ", o.target_vocabulary, " tokens, ", o.encoder_layers,
                     " encoder layers and ", o.decoder_layers, " decoder layers");
  if (o.shared_embeddings && o.source_vocabulary != o.target_vocabulary)
    fail<InputError>("transformer", "shared embeddings need the same vocabulary for source and target: got ",
                     o.source_vocabulary, " and ", o.target_vocabulary, " tokens");
  if (o.pre_norm && !o.final_norm)
    fail<InputError>("transformer", "pre_norm (\"normalize_before\") needs final_norm (\"add_final_layer_norm\"): ",
                     "nothing else normalises the output of the last layer");
  if (o.pointer && !o.shared_embeddings)
    fail<InputError>("transformer", "a pointer copies tokens of the source into the target, so it needs ",
                     "shared embeddings (\"share_encoder_decoder_embeddings\")");
  if (o.recurrent_layers > 0 && o.width % 2 != 0)
    fail<InputError>("transformer",
                     "each direction of the recurrent layers has half of the width, which must be even: ", "got ",
                     o.width);
}

/// Divides source ids into tokens and letter cases; these are undefined if the model does not read them.
std::pair<Tensor, Tensor> divided(const Tensor& ids, const TransformerOptions& o) {
  if (!o.source_case || ids.dtype() != DType::i32) return {ids, {}};
  const auto step = static_cast<std::int32_t>(o.source_vocabulary);
  Tensor tokens = ids.copy(), cases = ids.copy();
  for (std::int64_t i = 0; i < ids.numel(); ++i)
    tokens.data<std::int32_t>()[i] %= step, cases.data<std::int32_t>()[i] /= step;
  return {tokens, cases};
}

}  // namespace

void DecodingState::select(std::span<const std::int64_t> rows) {
  source.select(rows), target.select(rows);
  std::vector<std::int64_t> chosen;
  for (const std::int64_t row : rows) chosen.push_back(length(row));
  lengths = std::move(chosen);
  if (copied.empty()) return;
  PointerSources sources;
  for (const std::int64_t row : rows) sources.push_back(copied[static_cast<std::size_t>(row)]);
  copied = std::move(sources);
}

void DecodingState::join(GenerationState&& other) {
  const auto& more = static_cast<const DecodingState&>(other);
  source.join(more.source), target.join(more.target);
  lengths.insert(lengths.end(), more.lengths.begin(), more.lengths.end());
  copied.insert(copied.end(), more.copied.begin(), more.copied.end());
}

Transformer::Transformer(const TransformerOptions& given, Generator& generator) : options(given) {
  TransformerOptions& o = options;
  const bool beyond_marian =
      o.pre_norm || o.final_norm || o.learned_positions || o.pointer || o.recurrent_layers > 0 || o.source_case;
  if (o.family == &kMarian && beyond_marian) o.family = &kAttendTransformer;
  check(o);
  const auto table = [&](std::int64_t tokens) {
    Embedding made(tokens, o.width, generator, 1.f / std::sqrt(static_cast<float>(o.width)));
    made.scale = o.scale_embedding ? std::sqrt(static_cast<float>(o.width)) : 1.f;
    return made;
  };
  if (o.shared_embeddings)
    shared_embedding = table(o.source_vocabulary);
  else
    source_embedding = table(o.source_vocabulary), target_embedding = table(o.target_vocabulary);
  if (o.source_case) {
    case_embedding = Embedding(kLetterCases, o.width, generator, 1.f / std::sqrt(static_cast<float>(o.width)));
    case_embedding.scale = std::sqrt(static_cast<float>(o.width));
  }
  if (o.learned_positions) {
    for (Tensor* learned : {&source_positions, &target_positions}) {
      *learned = Tensor::empty({o.position_offset + o.max_positions, o.width});
      init::normal(*learned, 0.02f, generator);
    }
  } else if (o.relative_buckets > 0) {
    source_bias = RelativeBias(o.relative_buckets, o.encoder_heads, true, o.relative_distance, generator);
    target_bias = RelativeBias(o.relative_buckets, o.decoder_heads, false, o.relative_distance, generator);
  } else {
    positions = sinusoidal_positions(o.max_positions, o.width, o.position_offset, o.position_layout);
  }
  if (o.embedding_norm) source_norm = Norm(o.width, o.norm), target_norm = Norm(o.width, o.norm);
  if (o.recurrent_layers > 0)
    recurrent = Recurrent(kernels::Cell::lstm,
                          {.input = o.width,
                           .hidden = o.width / 2,
                           .layers = static_cast<int>(o.recurrent_layers),
                           .bidirectional = true,
                           .dropout = o.dropout},
                          generator);
  const TransformerFamily::Names& names = o.family->names;
  for (std::int64_t i = 0; i < o.encoder_layers; ++i)
    encoder.blocks.emplace_back(block_options(o, false), names.encoder, generator);
  for (std::int64_t i = 0; i < o.decoder_layers; ++i)
    decoder.blocks.emplace_back(block_options(o, true), names.decoder, generator);
  encoder.name = "encoder", decoder.name = "decoder";
  if (o.final_norm) encoder.final_norm = Norm(o.width, o.norm), decoder.final_norm = Norm(o.width, o.norm);
  if (!o.tied_output) {
    output.weight = Tensor::empty({o.target_vocabulary, o.width});
    init::xavier_uniform(output.weight, 1.f, generator);
  }
  if (o.output_bias) output_bias = Tensor::zeros({1, o.target_vocabulary});
  if (o.pointer) pointer = Pointer(o.width, generator);
}

void Transformer::check_length(std::int64_t tokens) const {
  if (options.max_positions > 0 && tokens > options.max_positions)
    fail<InputError>("transformer", "the text is too long: got ", tokens, " tokens, the model has positions for ",
                     options.max_positions);
}

PointerSources Transformer::copied_from(const Tensor& sources, const Tensor& lengths) const {
  return pointer_sources(divided(sources, options).first, lengths);
}

Tensor Transformer::first_positions(const Tensor& learned, std::int64_t T) const {
  check_length(T);
  if (options.relative_buckets > 0) return {};
  if (learned.defined()) return slice(learned, 0, options.position_offset, options.position_offset + T);
  return positions.view_rows(0, T);
}

Tensor Transformer::embed(const Tensor& tokens, const Tensor& places, const Norm& norm) const {
  const Tensor x = places.defined() ? tokens + places : tokens;
  return dropout(norm.defined() ? norm(x) : x, options.dropout);
}

Tensor Transformer::project(const Tensor& states) const {
  const Tensor bias = output_bias.defined() ? output_bias.reshape({options.target_vocabulary}) : Tensor();
  const Tensor x = options.scale_output ? states * (1.f / std::sqrt(static_cast<float>(options.width))) : states;
  if (options.tied_output) return embedding_of(target_embedding).project(x, bias);
  Linear biased = output;
  biased.bias = bias;
  return biased(x);
}

Tensor Transformer::encode(const Tensor& input, const Tensor& lengths, Probe* probe) const {
  check_lengths("transformer", lengths, input.dim(0), input.dim(1));
  Tensor tokens = input;
  if (input.dtype() == DType::i32) {
    const auto [ids, cases] = divided(input, options);
    tokens = embedding_of(source_embedding)(ids);
    if (cases.defined()) tokens = tokens + case_embedding(cases);
  }
  if (tokens.rank() != 3 || tokens.dim(2) != options.width)
    fail("transformer", "the features have a wrong shape: got ", input.shape(), ", expected [B, S, ", options.width,
         "]");
  const std::int64_t S = input.dim(1);
  const bool recurs = !recurrent.weights.empty();
  Tensor x = embed(tokens, recurs ? Tensor() : first_positions(source_positions, S), source_norm);
  if (recurs) check_length(S), x = x + dropout(recurrent(x, {}, lengths).y, options.dropout);
  const Tensor states = encoder(
      x, {.mask = Mask::keys(lengths), .bias = source_bias.defined() ? source_bias(S, S) : Tensor(), .probe = probe});
  return dropout(states, options.final_dropout ? options.dropout : 0.f);
}

Tensor Transformer::decode(const Tensor& states, const Tensor& lengths, const Tensor& ids, Probe* probe) const {
  if (pointer.defined()) fail("transformer", "a model with a pointer needs the tokens of the source: use predict()");
  return project(decode_states(states, lengths, ids, probe));
}

void Transformer::record_pointer(const Tensor& weights, Probe* probe) const {
  if (!probe) return;
  const Tensor one = weights.reshape(weights.shape().inserted(1, 1));
  probe->enter("decoder." + std::to_string(options.decoder_layers) + ".cross");
  probe->record(concat(std::vector<Tensor>(static_cast<std::size_t>(options.decoder_heads), one), 1));
}

Predictions Transformer::predict(const Tensor& sources, const Tensor& lengths, const Tensor& ids, Probe* probe) const {
  const Tensor source = encode(sources, lengths, probe);
  const Tensor states = decode_states(source, lengths, ids, probe);
  if (!pointer.defined()) return {project(states), {}};
  const Pointed pointed = pointer(states, source, lengths);
  record_pointer(pointed.weights, probe);
  return {pointer_mixture(project(states), pointed.weights, pointed.gate, copied_from(sources, lengths)),
          pointed.weights};
}

Tensor Transformer::decode_states(const Tensor& states, const Tensor& lengths, const Tensor& ids, Probe* probe) const {
  check_lengths("transformer", lengths, states.dim(0), states.dim(1));
  const Tensor tokens = embedding_of(target_embedding)(ids);
  const std::int64_t T = ids.dim(-1);
  const Tensor x = decoder(embed(tokens, first_positions(target_positions, T), target_norm),
                           {.states = states,
                            .states_mask = Mask::keys(lengths),
                            .bias = target_bias.defined() ? target_bias(T, T) : Tensor(),
                            .probe = probe});
  return dropout(x, options.final_dropout ? options.dropout : 0.f);
}

Tensor Transformer::logits(const Tensor& sources, const Tensor& lengths, const Tensor& ids) const {
  return predict(sources, lengths, ids).logits;
}

void Transformer::record_attention(const Tensor& sources, const Tensor& lengths, const Tensor& ids,
                                   Probe& probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  const Tensor source = encode(sources, lengths, &probe), states = decode_states(source, lengths, ids, &probe);
  if (pointer.defined()) record_pointer(pointer(states, source, lengths).weights, &probe);
}

Seq2SeqSpec Transformer::spec() const {
  const TransformerOptions& o = options;
  return {.encoder = {o.encoder_layers, o.encoder_heads},
          .decoder = {o.decoder_layers, o.decoder_heads},
          .cross = {o.decoder_layers + (o.pointer ? 1 : 0), o.decoder_heads},
          .max_source = o.max_positions,
          .whole_texts = o.family->whole_texts,
          .case_step = o.source_case ? o.source_vocabulary : 0,
          .pointer = o.pointer,
          .padding = o.padding,
          .start = o.start,
          .end = o.end};
}

SequenceBytes Transformer::sequence_bytes() const {
  const TransformerOptions& o = options;
  const std::int64_t key = o.head_dim > 0 ? o.decoder_heads * o.head_dim : o.width;
  const std::int64_t pointer_keys = o.pointer ? 2 * o.width : 0;
  return {.token = (o.decoder_layers * 2 * key + pointer_keys) * std::int64_t{sizeof(float)}};
}

Config Transformer::config() const {
  Config config;
  options.write(config);
  return config;
}

std::vector<NamedTensor> Transformer::stored_parameters() {
  std::vector<NamedTensor> all = parameters(*this);
  if (positions.defined() && options.family->stores_positions)
    for (const char* name : {"encoder.embed_positions.weight", "decoder.embed_positions.weight"})
      all.push_back({std::string(options.family->names.prefix) + name, positions});
  return all;
}

DecodingState Transformer::start(const Tensor& states, const Tensor& lengths, const Tensor& sources) const {
  const NoGrad no_grad;
  const Training no_training(false);
  DecodingState state(options.decoder_layers, options.pointer);
  for (std::size_t i = 0; i < decoder.blocks.size(); ++i)
    state.source.append(i, decoder.blocks[i].cross_attention.keys_values(states), lengths);
  if (pointer.defined()) {
    state.source.append(decoder.blocks.size(), pointer.keys_values(states), lengths);
    state.copied = copied_from(sources, lengths);
  }
  state.lengths.assign(static_cast<std::size_t>(states.dim(0)), 0);
  return state;
}

StartedGeneration Transformer::start(std::span<const GenerationInput> inputs) const {
  const NoGrad no_grad;
  const Training no_training(false);
  std::vector<std::int32_t> first;
  for (const GenerationInput& input : inputs) {
    if (input.prompt.size() != 1)
      fail("transformer", "the prompt must be the start token alone: got ", input.prompt.size(), " tokens");
    first.push_back(input.prompt.front());
  }
  const TokenBatch batch = pad_sources(inputs, options.padding);
  auto state = std::make_unique<DecodingState>(start(encode(batch.ids, batch.lengths), batch.lengths, batch.ids));
  Tensor next = step(Tensor::ids(first, {std::ssize(first)}), *state, nullptr);
  return {std::move(state), std::move(next)};
}

Tensor Transformer::step(const Tensor& ids, GenerationState& state) const {
  return step(ids, static_cast<DecodingState&>(state), nullptr);
}

Tensor Transformer::step(const Tensor& ids, DecodingState& state, Probe* probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  if (ids.shape() != Shape{state.rows()})
    fail("transformer", "expected one token for each sequence: got ids ", ids.shape(), ", expected [", state.rows(),
         "]");
  const std::int64_t first = options.learned_positions ? options.position_offset : 0;
  std::vector<std::int32_t> places;
  for (std::int64_t& length : state.lengths) {
    check_length(length + 1);
    places.push_back(static_cast<std::int32_t>(first + length++));
  }
  const Tensor& table = options.learned_positions ? target_positions : positions;
  const Tensor x = embed(embedding_of(target_embedding)(ids),
                         table.defined() ? embedding(table, Tensor::ids(places, ids.shape())) : Tensor(), target_norm);
  const Tensor states = decoder(x, {.cache = &state.target,
                                    .states_cache = &state.source,
                                    .bias = target_bias.defined() ? target_bias.last(state.lengths) : Tensor(),
                                    .probe = probe});
  if (!pointer.defined()) return project(states);
  const Pointed pointed = pointer.over(state.source, decoder.blocks.size(), states);
  record_pointer(pointed.weights, probe);
  const std::int64_t N = state.rows(), V = options.target_vocabulary;
  return pointer_mixture(project(states).reshape({N, 1, V}), pointed.weights, pointed.gate, state.copied)
      .reshape({N, V});
}

void must_be(const Config& config, const char* key, bool expected) {
  if (config.flag(key, expected) != expected)
    fail<InputError>("transformer", "config.json: \"", key, "\" is ", expected ? "false" : "true",
                     ", which is not supported for this model_type");
}

std::int32_t read_token_id(const Config& config, const char* key, std::int64_t otherwise, const TransformerOptions& o) {
  return static_cast<std::int32_t>(config.integer_in(key, 0, o.target_vocabulary - 1, otherwise));
}

void check_architecture(const Config& config, const TransformerOptions& o) {
  must_be(config, "normalize_before", o.pre_norm), must_be(config, "add_final_layer_norm", o.final_norm);
  must_be(config, "normalize_embedding", o.embedding_norm);
  must_be(config, "static_position_embeddings", !o.learned_positions);
}

void write_family(const TransformerFamily& family, Config& config) {
  config.set("model_type", std::string(family.type));
  if (!family.class_name.empty()) config.set("architectures", std::vector<std::string>{std::string(family.class_name)});
}

void read_transformer_sizes(const Config& config, TransformerOptions& o, const TransformerDefaults& defaults) {
  o.source_vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary);
  o.target_vocabulary = config.integer_in("decoder_vocab_size", 1, bounds::kVocabulary, o.source_vocabulary);
  o.width = config.integer_in("d_model", 1, bounds::kWidth);
  o.encoder_layers = config.integer_in("encoder_layers", 0, bounds::kLayers);
  o.decoder_layers = config.integer_in("decoder_layers", 1, bounds::kLayers);
  o.encoder_heads = config.divisor("encoder_attention_heads", o.width);
  o.decoder_heads = config.divisor("decoder_attention_heads", o.width);
  o.encoder_inner = config.integer_in("encoder_ffn_dim", 1, bounds::kInner);
  o.decoder_inner = config.integer_in("decoder_ffn_dim", 1, bounds::kInner);
  o.activation = config.choice("activation_function", kActivationNames, {defaults.activation});
  o.shared_embeddings = config.flag("share_encoder_decoder_embeddings", true);
  o.tied_output = config.flag("tie_word_embeddings", true);
  o.scale_embedding = config.flag("scale_embedding", defaults.scale_embedding);
  const std::int64_t most_positions = std::min(bounds::kPositions, bounds::kPositionNumbers / o.width);
  o.max_positions = config.integer_in("max_position_embeddings", 1, most_positions, 1024);
  o.dropout = config.probability("dropout", 0.1);
  o.attention_dropout = config.probability("attention_dropout", defaults.attention_dropout);
  o.activation_dropout = config.probability("activation_dropout", 0.0);
  o.padding = read_token_id(config, "pad_token_id", defaults.padding.value_or(o.source_vocabulary - 1), o);
  o.start = read_token_id(config, "decoder_start_token_id", defaults.start.value_or(o.padding), o);
  o.end = read_token_id(config, "eos_token_id", defaults.end, o);
  must_be(config, "is_encoder_decoder", true), must_be(config, "is_decoder", false);
}

void write_transformer_sizes(const TransformerOptions& o, Config& config) {
  write_family(*o.family, config);
  config.set("vocab_size", o.source_vocabulary), config.set("decoder_vocab_size", o.target_vocabulary);
  config.set("d_model", o.width);
  config.set("encoder_layers", o.encoder_layers), config.set("decoder_layers", o.decoder_layers);
  config.set("encoder_attention_heads", o.encoder_heads), config.set("decoder_attention_heads", o.decoder_heads);
  config.set("encoder_ffn_dim", o.encoder_inner), config.set("decoder_ffn_dim", o.decoder_inner);
  config.set("activation_function", name_of(o.activation, kActivationNames));
  config.set("share_encoder_decoder_embeddings", o.shared_embeddings);
  config.set("tie_word_embeddings", o.tied_output);
  config.set("scale_embedding", o.scale_embedding);
  config.set("max_position_embeddings", o.max_positions);
  config.set("dropout", o.dropout), config.set("attention_dropout", o.attention_dropout);
  config.set("activation_dropout", o.activation_dropout);
  config.set("pad_token_id", o.padding), config.set("decoder_start_token_id", o.start);
  config.set("eos_token_id", o.end), config.set("forced_eos_token_id", o.end);
  config.set("is_encoder_decoder", true);
}

namespace {

/// Compares the sizes in config.json with the weights.
void check_sizes(const Config& config, const Weights& weights, const TransformerOptions& o) {
  const std::string layers = "." + std::string(o.family->names.layers) + ".";
  const bool t5 = o.relative_buckets > 0;
  check_layers("transformer", config, weights, "encoder" + layers, t5 ? "num_layers" : "encoder_layers",
               o.encoder_layers);
  check_layers("transformer", config, weights, "decoder" + layers, t5 ? "num_decoder_layers" : "decoder_layers",
               o.decoder_layers);
  const auto heads_width = [&](std::int64_t heads) { return o.head_dim > 0 ? heads * o.head_dim : o.width; };
  const auto product = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); };
  double least =
      product(o.width, o.source_vocabulary) +
      static_cast<double>(o.encoder_layers) * block_parameters(o.width, heads_width(o.encoder_heads), o.encoder_inner) +
      static_cast<double>(o.decoder_layers) *
          block_parameters(o.width, heads_width(o.decoder_heads), o.decoder_inner, /*attentions=*/2) +
      product(o.relative_buckets, o.encoder_heads) + product(o.relative_buckets, o.decoder_heads);
  if (!o.shared_embeddings) least += product(o.width, o.target_vocabulary);
  if (o.learned_positions) least += product(o.width, o.max_positions);
  check_parameters("transformer", config, weights, least);
}

}  // namespace

Transformer load_transformer(const Config& config, const Weights& weights, const TransformerFamily& family,
                             bool mapped) {
  TransformerOptions o;
  o.family = &family;
  family.read(config, o);
  if (family.tied_unless_stored && weights.contains("lm_head.weight")) {
    const std::string shared = std::string(family.names.prefix) + "shared.weight";
    o.tied_output = weights.contains(shared) &&
                    weights.get_float32(shared).to_vector() == weights.get_float32("lm_head.weight").to_vector();
  }
  check_sizes(config, weights, o);
  const init::Skipped skipped;
  Transformer model(o);
  expect_precision("transformer", config, mapped, model);
  std::vector<NamedTensor> all = parameters(model);
  LoadOptions options{.optional = {"final_logits_bias"}};
  const std::string prefix(family.names.prefix);
  for (const char* unused : {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"})
    options.optional.emplace_back(unused);  // the oldest T5 folders have it
  for (const char* unused : {"encoder.embed_positions.weights", "decoder.embed_positions.weights"})
    options.optional.push_back(prefix + unused);  // old M2M-100 folders may have these tables of fairseq's positions
  // The other names under which a folder may store the embeddings and the tied output layer.
  const Embedding& source = o.shared_embeddings ? model.shared_embedding : model.source_embedding;
  const Embedding& target = o.shared_embeddings ? model.shared_embedding : model.target_embedding;
  all.push_back({prefix + "encoder.embed_tokens.weight", source.weight});
  all.push_back({prefix + "decoder.embed_tokens.weight", target.weight});
  if (o.tied_output) all.push_back({"lm_head.weight", target.weight});
  if (model.positions.defined())
    for (const char* name : {"encoder.embed_positions.weight", "decoder.embed_positions.weight"}) {
      all.push_back({prefix + name, model.positions});
      options.optional.push_back(prefix + name);
    }

  const bool prefixed = std::ranges::any_of(
      all, [&](const NamedTensor& one) { return one.name.starts_with(prefix) && weights.contains(one.name); });
  if (!prefixed)
    for (NamedTensor& one : all)
      if (one.name.starts_with(prefix)) one.name.erase(0, prefix.size());
  mapped ? borrow_parameters(all, weights, options) : load_parameters(all, weights, options);
  release_cached_memory();  // if the file is misaligned, a tied table was copied once for each of its names
  auto next = all.begin();
  for_each_parameter(model, [&](const std::string&, Tensor& tensor) { tensor = (next++)->tensor; });
  if (model.positions.defined()) model.positions = all.back().tensor;
  if (!mapped) model.encoder.place_neighbours(), model.decoder.place_neighbours();
  return model;
}

}  // namespace attend
