#include "attend/models/transformer.h"

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/data/batches.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/check.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

BlockOptions block_options(const TransformerOptions& o, bool decoder) {
  return {.width = o.width,
          .heads = decoder ? o.decoder_heads : o.encoder_heads,
          .inner = decoder ? o.decoder_inner : o.encoder_inner,
          .activation = o.activation,
          .pre_norm = o.pre_norm,
          .causal = decoder,
          .cross = decoder,
          .dropout = o.dropout,
          .attention_dropout = o.attention_dropout,
          .activation_dropout = o.activation_dropout};
}

void check(const TransformerOptions& o) {
  if (o.source_vocabulary < 1 || o.target_vocabulary < 1 || o.encoder_layers < 0 || o.decoder_layers < 1)
    fail<InputError>("transformer", "both sides need a vocabulary, and the decoder a layer: got vocabularies of ",
                     o.source_vocabulary, " and ", o.target_vocabulary, ", ", o.encoder_layers, " + ", o.decoder_layers,
                     " layers");
  if (o.shared_embeddings && o.source_vocabulary != o.target_vocabulary)
    fail<InputError>("transformer", "one embedding for both sides needs one vocabulary: got ", o.source_vocabulary,
                     " and ", o.target_vocabulary, " tokens");
  if (o.pre_norm && !o.final_norm)
    fail<InputError>("transformer", "norms before the sub-layers (pre_norm, \"normalize_before\") need one at the end ",
                     "(final_norm, \"add_final_layer_norm\"): nothing else normalises what the last layer adds");
}

}  // namespace

void DecodingState::select(std::span<const std::int64_t> rows) {
  source.select(rows), target.select(rows);
  std::vector<std::int64_t> chosen;
  for (const std::int64_t row : rows) chosen.push_back(length(row));
  lengths = std::move(chosen);
}

void DecodingState::join(GenerationState&& other) {
  const auto& more = static_cast<const DecodingState&>(other);
  source.join(more.source), target.join(more.target);
  lengths.insert(lengths.end(), more.lengths.begin(), more.lengths.end());
}

Transformer::Transformer(const TransformerOptions& given, Generator& generator) : options(given) {
  TransformerOptions& o = options;
  const bool beyond_marian = o.pre_norm || o.final_norm || o.learned_positions;
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
  if (o.learned_positions) {
    for (Tensor* learned : {&source_positions, &target_positions}) {
      *learned = Tensor::empty({o.position_offset + o.max_positions, o.width});
      init::normal(*learned, 0.02f, generator);
    }
  } else {
    positions = sinusoidal_positions(o.max_positions, o.width, 0, PositionLayout::halves);
  }
  if (o.embedding_norm) source_norm = LayerNorm(o.width), target_norm = LayerNorm(o.width);
  const TransformerFamily::Names& names = o.family->names;
  for (std::int64_t i = 0; i < o.encoder_layers; ++i)
    encoder.blocks.emplace_back(block_options(o, false), names.encoder, generator);
  for (std::int64_t i = 0; i < o.decoder_layers; ++i)
    decoder.blocks.emplace_back(block_options(o, true), names.decoder, generator);
  encoder.name = "encoder", decoder.name = "decoder";
  if (o.final_norm) encoder.final_norm = LayerNorm(o.width), decoder.final_norm = LayerNorm(o.width);
  if (!o.tied_output) {
    output.weight = Tensor::empty({o.target_vocabulary, o.width});
    init::xavier_uniform(output.weight, 1.f, generator);
  }
  output_bias = Tensor::zeros({1, o.target_vocabulary});
}

void Transformer::check_length(std::int64_t tokens) const {
  if (options.max_positions > 0 && tokens > options.max_positions)
    fail<InputError>("transformer", "the text is too long: got ", tokens, " tokens, the model has positions for ",
                     options.max_positions);
}

Tensor Transformer::first_positions(const Tensor& learned, std::int64_t T) const {
  check_length(T);
  if (learned.defined()) return slice(learned, 0, options.position_offset, options.position_offset + T);
  return positions.view_rows(0, T);
}

Tensor Transformer::embed(const Tensor& tokens, const Tensor& places, const LayerNorm& norm) const {
  const Tensor x = tokens + places;
  return dropout(norm.defined() ? norm(x) : x, options.dropout);
}

Tensor Transformer::project(const Tensor& states) const {
  const Tensor bias = output_bias.reshape({options.target_vocabulary});
  if (options.tied_output) return embedding_of(target_embedding).project(states, bias);
  return Linear(output.weight, bias, output.scales)(states);
}

Tensor Transformer::encode(const Tensor& input, const Tensor& lengths, Probe* probe) const {
  check_lengths("transformer", lengths, input.dim(0), input.dim(1));
  const Tensor tokens = input.dtype() == DType::i32 ? embedding_of(source_embedding)(input) : input;
  if (tokens.rank() != 3 || tokens.dim(2) != options.width)
    fail("transformer", "features do not fit the model: got ", input.shape(), ", expected [B, S, ", options.width, "]");
  return encoder(embed(tokens, first_positions(source_positions, input.dim(1)), source_norm),
                 {.mask = Mask::keys(lengths), .probe = probe});
}

Tensor Transformer::decode(const Tensor& states, const Tensor& lengths, const Tensor& ids, Probe* probe) const {
  return project(decode_states(states, lengths, ids, probe));
}

Tensor Transformer::decode_states(const Tensor& states, const Tensor& lengths, const Tensor& ids, Probe* probe) const {
  check_lengths("transformer", lengths, states.dim(0), states.dim(1));
  const Tensor tokens = embedding_of(target_embedding)(ids);
  return decoder(embed(tokens, first_positions(target_positions, ids.dim(-1)), target_norm),
                 {.states = states, .states_mask = Mask::keys(lengths), .probe = probe});
}

Tensor Transformer::logits(const Tensor& sources, const Tensor& lengths, const Tensor& ids) const {
  return decode(encode(sources, lengths), lengths, ids);
}

void Transformer::record_attention(const Tensor& sources, const Tensor& lengths, const Tensor& ids,
                                   Probe& probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  decode_states(encode(sources, lengths, &probe), lengths, ids, &probe);
}

Seq2SeqSpec Transformer::spec() const {
  const TransformerOptions& o = options;
  return {.encoder = {o.encoder_layers, o.encoder_heads},
          .decoder = {o.decoder_layers, o.decoder_heads},
          .cross = {o.decoder_layers, o.decoder_heads},
          .max_source = o.max_positions,
          .padding = o.padding,
          .start = o.start,
          .end = o.end};
}

Config Transformer::config() const {
  Config config;
  options.write(config);
  return config;
}

DecodingState Transformer::start(const Tensor& states, const Tensor& lengths) const {
  const NoGrad no_grad;
  const Training no_training(false);
  DecodingState state(options.decoder_layers);
  for (std::size_t i = 0; i < decoder.blocks.size(); ++i)
    state.source.append(i, decoder.blocks[i].cross_attention.keys_values(states), lengths);
  state.lengths.assign(static_cast<std::size_t>(states.dim(0)), 0);
  return state;
}

StartedGeneration Transformer::start(std::span<const GenerationInput> inputs) const {
  const NoGrad no_grad;
  const Training no_training(false);
  std::vector<std::span<const std::int32_t>> sources;
  std::vector<std::int32_t> first;
  for (const GenerationInput& input : inputs) {
    if (input.prompt.size() != 1) fail("transformer", "a decoder starts from one token: got ", input.prompt.size());
    sources.push_back(input.source), first.push_back(input.prompt.front());
  }
  const TokenBatch batch = pad(sources, options.padding);
  auto state = std::make_unique<DecodingState>(start(encode(batch.ids, batch.lengths), batch.lengths));
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
    fail("transformer", "the tokens do not fit the state: got ", ids.shape(), ", expected [", state.rows(), "]");
  std::vector<std::int32_t> places;
  for (std::int64_t& length : state.lengths) {
    check_length(length + 1);
    places.push_back(static_cast<std::int32_t>(options.position_offset + length++));
  }
  const Tensor& table = options.learned_positions ? target_positions : positions;
  const Tensor x =
      embed(embedding_of(target_embedding)(ids), embedding(table, Tensor::ids(places, ids.shape())), target_norm);
  return project(decoder(x, {.cache = &state.target, .states_cache = &state.source, .probe = probe}));
}

Transformer load_transformer(const Config& config, const Weights& weights, const TransformerFamily& family,
                             bool mapped) {
  TransformerOptions o;
  o.family = &family;
  family.read(config, o);
  const init::Skipped skipped;
  Transformer model(o);
  expect_precision("transformer", config, mapped, model);
  std::vector<NamedTensor> all = parameters(model);
  LoadOptions options{.optional = {"final_logits_bias"}};
  const std::string prefix(family.names.prefix);
  // The other names under which a folder may have the same.
  const Embedding& source = o.shared_embeddings ? model.shared_embedding : model.source_embedding;
  const Embedding& target = o.shared_embeddings ? model.shared_embedding : model.target_embedding;
  all.push_back({prefix + "encoder.embed_tokens.weight", source.weight});
  all.push_back({prefix + "decoder.embed_tokens.weight", target.weight});
  if (o.tied_output) all.push_back({"lm_head.weight", target.weight});
  if (!o.learned_positions)
    for (const char* name : {"encoder.embed_positions.weight", "decoder.embed_positions.weight"}) {
      all.push_back({prefix + name, model.positions});
      options.optional.push_back(prefix + name);
    }

  mapped ? borrow_parameters(all, weights, options) : load_parameters(all, weights, options);
  release_cached_memory();  // where a file is misaligned, tied tables were copied once for each name
  auto next = all.begin();
  for_each_parameter(model, [&](const std::string&, Tensor& tensor) { tensor = (next++)->tensor; });
  if (!o.learned_positions) model.positions = all.back().tensor;
  if (!mapped) model.encoder.place_neighbours(), model.decoder.place_neighbours();  // it may be trained
  return model;
}

}  // namespace attend
